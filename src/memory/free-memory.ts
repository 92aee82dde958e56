import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { growYoungHeapOnce } from './small-heap.ts'

/** Returns free memory of the allocator to the system. */
export type ReturnFreeMemory = () => void

/**
 * Finds glibc's `malloc_trim`, which gives back pages that hold nothing: starts and blocks leave 50 MB of them between others
 * that are in use. Null where there is none (other systems, musl), or no FFI in this Node.
 */
export function freeMemoryReturn(): ReturnFreeMemory | null {
  const trim = allocatorFunction('malloc_trim', ['uint64']) as ((padBytes: bigint) => number) | null
  return trim && (() => void trim(0n))
}

/** Parameter of glibc's `mallopt`: the maximum number of arenas. */
const M_ARENA_MAX = -8

/**
 * Has threads that start from now on share the allocator's arenas that there are; by itself glibc makes one for each of up to
 * eight threads a core, and each keeps free memory that the others cannot use: 13 MB of a localnet at rest, 67 at the peak of its
 * first start. To be called before the storage engine and the file system have threads. Returns whether there is such an allocator.
 */
export function shareArenas(): boolean {
  const set = allocatorFunction('mallopt', ['int32', 'int32']) as
    | ((parameter: number, value: number) => number)
    | null
  return set?.(M_ARENA_MAX, 1) === 1
}

/** Milliseconds between two returns, each of which takes some 10 ms. Chosen: a thousandth of a core at most. */
const RETURN_MS = 10_000
/** Milliseconds until the first return: indexing a day of blocks takes half as long. */
const FIRST_RETURN_MS = 30_000

/**
 * Returns free memory of this process regularly, until the returned function is called. First it has Node write its cache of
 * compiled code, which would otherwise be held until the end of the process: 10 MB. That takes 2 ms, and 700 ms at the first
 * start after an installation. Before the first return it compacts the heap, once: indexing a day of blocks leaves 35 MB of
 * it half empty. Then the young generation gets its size for a service at rest.
 */
export function returnFreeMemory(): () => void {
  flushCompileCache()
  const giveBack = freeMemoryReturn()
  let endGrowth = (): void => undefined
  let timer = setTimeout(() => {
    compactHeap()
    endGrowth = growYoungHeapOnce()
    giveBack?.()
    timer = setInterval(() => giveBack?.(), RETURN_MS).unref()
  }, FIRST_RETURN_MS).unref()
  return () => {
    clearTimeout(timer)
    endGrowth()
  }
}

/**
 * Collects all garbage and compacts what is left: a pause of some 150 ms for 80 MB. The young generation keeps its size, as
 * it would not with V8's collections for want of memory.
 */
export function compactHeap(): void {
  setFlagsFromString('--expose-gc')
  setFlagsFromString('--compact-on-every-full-gc')
  const collect = runInNewContext('gc') as (options: object) => void
  collect({ type: 'major', flavor: 'regular' })
  setFlagsFromString('--no-compact-on-every-full-gc')
  setFlagsFromString('--no-expose-gc')
}

/** Finds a function of glibc's allocator; null where there is none, or no FFI in this Node. */
function allocatorFunction(name: string, parameters: readonly string[]): unknown {
  try {
    const found = loadFfi()?.dlopen(null, { [name]: { arguments: parameters, return: 'int32' } })
    return (found?.functions as Record<string, unknown> | undefined)?.[name] ?? null
  } catch {
    return null
  }
}

/** The part of `node:ffi` that is used. */
interface Ffi {
  dlopen(
    library: string | null,
    symbols: Readonly<Record<string, { readonly arguments: readonly string[]; readonly return: string }>>
  ): { readonly functions: object }
}

/** Loads `node:ffi` without its warning that it is experimental, of which an operator can make nothing. */
function loadFfi(): Ffi | null {
  const warn = Object.getOwnPropertyDescriptor(process, 'emitWarning')!
  process.emitWarning = () => undefined
  try {
    return (process.getBuiltinModule('node:ffi') as Ffi | undefined) ?? null
  } catch {
    return null
  } finally {
    Object.defineProperty(process, 'emitWarning', warn)
  }
}
