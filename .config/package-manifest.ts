import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * `client` puts the manifest and the README of the client's tarball in the place of those of the service; `restore` puts the
 * originals back.
 * The tarball holds the client alone, which needs no other package: with the service's dependencies, whoever installs it
 * would download half a gigabyte.
 */

const ROOT = resolve(import.meta.dirname, '..')
const MANIFEST = join(ROOT, 'package.json')
const ORIGINAL = join(ROOT, 'dist/package.original.json')
const README = join(ROOT, 'README.md')
const ORIGINAL_README = join(ROOT, 'dist/README.original.md')
/** Fields of package.json that the client's manifest keeps. */
const KEPT = ['name', 'version', 'description', 'license', 'type', 'engines', 'files'] as const

function restore(): void {
  if (!existsSync(ORIGINAL)) return
  copyFileSync(ORIGINAL, MANIFEST)
  if (existsSync(ORIGINAL_README)) copyFileSync(ORIGINAL_README, README)
  rmSync(ORIGINAL_README, { force: true })
  rmSync(ORIGINAL)
}

function putClient(): void {
  // Left there by a pack that was interrupted.
  restore()
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  copyFileSync(README, ORIGINAL_README)
  copyFileSync(MANIFEST, ORIGINAL)
  copyFileSync(join(ROOT, 'src/client/README.md'), README)
  const whole = JSON.parse(readFileSync(MANIFEST, 'utf8')) as Record<string, unknown>
  const kept = KEPT.filter((field) => field in whole).map((field) => [field, whole[field]])
  const built = (name: string): object => ({
    types: `./dist/client/${name}.d.ts`,
    default: `./dist/client/${name}.js`
  })
  const exports = {
    './client': built('client'),
    './webhooks': built('webhooks'),
    './package.json': './package.json'
  }
  writeFileSync(
    MANIFEST,
    `${JSON.stringify({ ...Object.fromEntries(kept), sideEffects: false, exports }, null, 2)}\n`
  )
}

const [command] = process.argv.slice(2)
if (command === 'client') putClient()
else if (command === 'restore') restore()
else {
  console.error('usage: node .config/package-manifest.ts client|restore')
  process.exitCode = 2
}
