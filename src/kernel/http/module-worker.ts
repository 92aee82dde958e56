import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, posix } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { BrowserModule, ModuleRequest } from './browser-modules.ts'

/**
 * A thread that reads TypeScript modules with everything that they import, and strips their types. The compiler holds its
 * thread for 100 ms when it starts, and for up to 25 ms a file before it is warm.
 */

const { root, entries, packages } = workerData as ModuleRequest

/** An import in JavaScript that Node has stripped of types. */
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(\s*|^import\s*)(['"])([^'"\n]+)\2/gm

const read = new Map<string, BrowserModule>()
const pending = [...entries]
for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
  if (read.has(path)) continue
  const module = moduleAt(path)
  read.set(path, module)
  pending.push(...module.imports, ...module.lazyImports)
}
parentPort!.postMessage([...read.values()])

/** Reads a module by its path from the root; `packages/NAME.js` is a package's. */
function moduleAt(path: string): BrowserModule {
  const name = /^packages\/(.+)\.js$/.exec(path)?.[1]
  const source = readFileSync(name === undefined ? join(root, path) : packages[name]!, 'utf8')
  const stripped = path.endsWith('.ts') ? stripTypeScriptTypes(source) : source
  const imports = new Set<string>()
  const lazyImports = new Set<string>()
  const text = stripped.replace(SPECIFIER, (whole, before: string, quote: string, specifier: string) => {
    const target = targetOf(path, specifier)
    // Text of a package that looks like an import.
    if (target === null) return whole
    ;(before.includes('(') ? lazyImports : imports).add(target)
    return `${before}${quote}${urlFrom(path, target)}${quote}`
  })
  return {
    path,
    text: text.replace(/^\/\/# sourceMappingURL=.*$/m, ''),
    imports: [...imports],
    lazyImports: [...lazyImports]
  }
}

/** Returns the path of an imported module; null if the text is no import of a known module. */
function targetOf(importer: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier)
  return specifier in packages ? `packages/${specifier}.js` : null
}

/** Returns the relative URL of a module; sources are served as `.js`, because proxies take `.ts` for video. */
function urlFrom(importer: string, target: string): string {
  const relative = posix.relative(posix.dirname(importer), target).replace(/\.ts$/, '.js')
  return relative.startsWith('.') ? relative : `./${relative}`
}
