import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { ROOT } from '../house/sources.ts'

const run = promisify(execFile)

/** A project into which the client's tarball was installed as users install it. */
export interface ClientProject {
  readonly folder: string
  /** Path of the installed package. */
  readonly client: string
  /** File names of the tarball, from its root. */
  readonly files: readonly string[]
  write(name: string, text: string): void
  /** Runs a program in the folder and resolves with its output. Rejects with both outputs if it fails. */
  run(program: string, args: readonly string[]): Promise<string>
}

/** Packs a copy of the checkout, because packing changes package.json for a moment, and installs the tarball elsewhere. */
export async function installPackedClient(t: Test): Promise<ClientProject> {
  const base = mkdtempSync(join(tmpdir(), 'millrace-client-'))
  t.teardown(() => rmSync(base, { recursive: true }))
  const [checkout, folder] = [join(base, 'checkout'), join(base, 'project')]
  mkdirSync(folder)
  for (const name of ['package.json', 'tsconfig.json', 'README.md', 'src', '.config'])
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: checkout })
  const [{ filename, files }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[\n'))) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] }
  ]
  const project: ClientProject = {
    folder,
    client: join(folder, 'node_modules/millrace'),
    files: files.map(({ path }) => path),
    write(name, text) {
      mkdirSync(join(folder, name, '..'), { recursive: true })
      writeFileSync(join(folder, name), text)
    },
    async run(program, args) {
      const { stdout } = await run(program, args, { cwd: folder })
      return stdout
    }
  }
  project.write('package.json', JSON.stringify({ name: 'bot', private: true, type: 'module' }))
  await project.run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`])
  return project
}
