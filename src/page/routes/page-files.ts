import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  browserModules,
  packedFile,
  SOURCES_ROOT,
  type BrowserModule,
  type PackedFile
} from '../../kernel/http/browser-modules.ts'

const SCRIPT = 'text/javascript; charset=utf-8'
const ROOM = 'src/page/browser'
const ENTRY = `${ROOM}/main.ts`
const STYLES = ['page.css', 'views.css'] as const

/** The page with everything that it loads. */
export interface PageFiles {
  /** Hash of all files, which is part of their URLs: a file may be cached for ever. */
  readonly version: string
  readonly html: PackedFile
  /** Files by their path below `page/VERSION/`. */
  readonly files: ReadonlyMap<string, PackedFile>
}

/** Reads, strips and compresses the page. It takes half a second of CPU time off the event loop, so it is done once. */
export async function readPageFiles(): Promise<PageFiles> {
  const require = createRequire(import.meta.url)
  const file = (name: string, path: string): string =>
    join(dirname(require.resolve(`${name}/package.json`)), path)
  const modules = await browserModules([ENTRY], {
    preact: file('preact', 'dist/preact.mjs'),
    'preact/hooks': file('preact', 'hooks/dist/hooks.mjs'),
    // With the canvas package inside: one request instead of eight.
    'lightweight-charts': file('lightweight-charts', 'dist/lightweight-charts.standalone.production.mjs')
  })
  const styles = await Promise.all(
    STYLES.map(async (name) => {
      const path = `${ROOM}/${name}`
      return [
        path,
        await packedFile('text/css; charset=utf-8', await readFile(join(SOURCES_ROOT, path)))
      ] as const
    })
  )
  const scripts = await Promise.all(
    modules.map(async ({ path, text }) => [urlOf(path), await packedFile(SCRIPT, text)] as const)
  )
  const icon = [
    `${ROOM}/icon.svg`,
    await packedFile('image/svg+xml', await readFile(join(SOURCES_ROOT, ROOM, 'icon.svg')))
  ] as const
  const files = new Map([...styles, ...scripts, icon].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const version = hash('sha1', [...files].map(([path, { tag }]) => `${path} ${tag}\n`).join(''), 'hex').slice(
    0,
    12
  )
  const template = await readFile(join(SOURCES_ROOT, ROOM, 'index.html'), 'utf8')
  const preloads = firstModules(modules)
    .map((path) => `    <link rel="modulepreload" href="page/VERSION/${urlOf(path)}" />\n`)
    .join('')
  const html = template.replace('    <!-- preloads -->\n', preloads).replaceAll('VERSION', version)
  return { version, html: await packedFile('text/html; charset=utf-8', html), files }
}

const urlOf = (path: string): string => path.replace(/\.ts$/, '.js')

/** Returns the modules that the page loads before it shows something, so that a browser loads them at once. */
function firstModules(modules: readonly BrowserModule[]): string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]))
  const first = new Set<string>([ENTRY])
  for (const path of first) for (const imported of byPath.get(path)!.imports) first.add(imported)
  return [...first]
}
