import { registerHooks } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { ROOT } from '../house/sources.ts'
import { fixturesOfFile, removeFixtures } from './fixture-folders.ts'

const SCHEME = 'test-of:'
/** By the path of a file: the test that it has as its `tap`, instead of the root of this process. */
export const tests = new Map<string, Test>()

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier !== 'tap' || !context.parentURL?.startsWith('file:')) return next(specifier, context)
    const file = relative(ROOT, fileURLToPath(context.parentURL))
    if (!tests.has(file)) return next(specifier, context)
    return { url: `${SCHEME}${encodeURIComponent(file)}`, format: 'module', shortCircuit: true }
  },
  load: (url, context, next) => {
    if (!url.startsWith(SCHEME)) return next(url, context)
    const file = JSON.stringify(decodeURIComponent(url.slice(SCHEME.length)))
    const source = `import { tests } from ${JSON.stringify(import.meta.url)}\nexport default tests.get(${file})`
    return { source, format: 'module', shortCircuit: true }
  }
})

/** Loads a file as a test of the root. Resolves with its assertions once all its tests are over. */
export async function runFileTest(file: string): Promise<Partial<Test['counts']>> {
  let counts: Partial<Test['counts']> = {}
  await t.test(file, async (t) => {
    ;({ counts } = t)
    t.testdirName = fixturesOfFile(file)
    tests.set(file, t)
    await import(pathToFileURL(join(ROOT, file)).href)
  })
  removeFixtures(process.pid)
  return counts
}

interface Running {
  readonly name: string
  readonly activeSubtests?: Iterable<Running>
}

/** Returns the names of the tests that run, or whose teardowns run, from the file's test inward. */
export function runningTests(): string[] {
  const names: string[] = []
  for (let [at] = t.activeSubtests as Iterable<Running>; at !== undefined; [at] = at.activeSubtests ?? [])
    names.push(at.name)
  return names
}
