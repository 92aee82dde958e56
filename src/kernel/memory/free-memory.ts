import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { giveHeapRoomUnderLoad } from './loaded-heap.ts'
import { growYoungHeapOnce } from './small-heap.ts'

/** Returns free memory of the allocator to the system. */
export type ReturnFreeMemory = () => void

/**
 * Finds glibc's `malloc_trim`, which returns unused pages to the system. Starts and blocks leave 50 MB of such pages
 * between used ones. Returns null on other systems and musl, and if this Node has no FFI.
 */
export function freeMemoryReturn(): ReturnFreeMemory | null {
  const trim = allocatorFunction('malloc_trim', ['uint64']) as ((padBytes: bigint) => number) | null
  return trim && (() => void trim(0n))
}

/** Parameter of glibc's `mallopt`: the maximum number of arenas. */
const M_ARENA_MAX = -8

/**
 * Makes threads that start after this call share the allocator's existing arenas. To be called before the storage
 * engine and the file system have threads. Returns whether the allocator is glibc's.
 *
 * Otherwise glibc creates one arena for each of up to eight threads per core. Each holds free memory that the others
 * cannot use: 13 MB of an idle localnet, 67 MB at the peak of its first start, 90 MB of pages on a store of 10 million trades.
 */
export function shareArenas(): boolean {
  const set = allocatorFunction('mallopt', ['int32', 'int32']) as
    | ((parameter: number, value: number) => number)
    | null
  return set?.(M_ARENA_MAX, 1) === 1
}

/** Interval of the calls, in milliseconds. A call takes about 10 ms, so they use at most a thousandth of a core. */
const RETURN_INTERVAL_MS = 10_000
/** Delay of the first call, in milliseconds: indexing a day of blocks takes half as long. */
const FIRST_RETURN_DELAY_MS = 30_000

/**
 * Returns free memory of this process to the system regularly, until the returned function is called.
 *
 * First it makes Node write its cache of compiled code, which Node would otherwise hold until the process ends: 10
 * MB. The write takes 2 ms, and 700 ms at the first start after an installation. Before the first return it compacts
 * the heap, once: indexing a day of blocks leaves 35 MB of it half empty. Then it sets the young generation to its
 * size for an idle service, and gives the heap more room whenever its old generation is collected often.
 */
export function returnFreeMemory(): () => void {
  flushCompileCache()
  const returnMemory = freeMemoryReturn()
  let endGrowth = (): void => undefined
  let endRoom = (): void => undefined
  let timer = setTimeout(() => {
    compactHeap()
    endGrowth = growYoungHeapOnce()
    endRoom = giveHeapRoomUnderLoad()
    returnMemory?.()
    timer = setInterval(() => returnMemory?.(), RETURN_INTERVAL_MS).unref()
  }, FIRST_RETURN_DELAY_MS).unref()
  return () => {
    clearTimeout(timer)
    endGrowth()
    endRoom()
  }
}

/**
 * Collects all garbage and compacts the heap: a pause of about 150 ms for 80 MB. The young generation keeps its size.
 * The collections that V8 runs when memory is short would shrink it.
 */
export function compactHeap(): void {
  setFlagsFromString('--expose-gc')
  setFlagsFromString('--compact-on-every-full-gc')
  const collect = runInNewContext('gc') as (options: object) => void
  collect({ type: 'major', flavor: 'regular' })
  setFlagsFromString('--no-compact-on-every-full-gc')
  setFlagsFromString('--no-expose-gc')
}

/** Finds a function of glibc's allocator; null on other allocators, or if this Node has no FFI. */
function allocatorFunction(name: string, parameters: readonly string[]): unknown {
  try {
    const found = loadFfi()?.dlopen(null, { [name]: { arguments: parameters, return: 'int32' } })
    return (found?.functions as Record<string, unknown> | undefined)?.[name] ?? null
  } catch {
    return null
  }
}

/** The used part of `node:ffi`. */
interface Ffi {
  dlopen(
    library: string | null,
    symbols: Readonly<Record<string, { readonly arguments: readonly string[]; readonly return: string }>>
  ): { readonly functions: object }
}

/** Loads `node:ffi` without its warning that it is experimental, which does not help an operator. */
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
