import { ClassicLevel } from 'classic-level'
import type { Test } from 'tap'

/** Counts every read of the engine until the test ends, but searches of documents, which the store sweeps by itself. */
export function countEngineReads(t: Test): () => number {
  let reads = 0
  watch(t, ['getSync', 'getMany', 'iterator', 'keys'], (of) => {
    if (!isOfLetter(of, 'D')) reads++
  })
  return () => reads
}

/** Counts the searches for keys with a letter until the test ends. */
export function countSearches(t: Test, letter: string): () => number {
  let searches = 0
  watch(t, ['iterator', 'keys'], (range) => {
    if (isOfLetter(range, letter)) searches++
  })
  return () => searches
}

/** Tells whether a range begins with a letter. */
function isOfLetter(range: unknown, letter: string): boolean {
  const { gte } = range as { readonly gte?: Uint8Array }
  return gte?.[0] === letter.charCodeAt(0)
}

type Method = 'getSync' | 'getMany' | 'iterator' | 'keys'

function watch(t: Test, methods: readonly Method[], called: (first: unknown) => void): void {
  const engine = ClassicLevel.prototype as unknown as Record<Method, (...args: unknown[]) => unknown>
  for (const method of methods) {
    const ask = engine[method]
    engine[method] = function (this: unknown, ...args: unknown[]) {
      called(args[0])
      return ask.apply(this, args)
    }
    t.teardown(() => Reflect.deleteProperty(engine, method))
  }
}
