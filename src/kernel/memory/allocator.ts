/** Returns free memory of the allocator to the system. */
export type ReturnFreeMemory = () => void

/** Parameters of glibc's `mallopt`, from its `malloc.h`. */
const M_ARENA_MAX = -8
const M_MMAP_THRESHOLD = -3

/**
 * Bytes from which a block of memory is a mapping of its own, which goes back to the system when the block is freed: pages of rows
 * and answers. With glibc's 128 KB, a service holds 50 MB more after answers of all lengths.
 */
const LARGE_BYTES = 32 * 2 ** 10

/**
 * Finds glibc's `malloc_trim`, which returns unused pages to the system. Starts and blocks leave 50 MB of such pages
 * between used ones. Returns null on other systems and musl, and if this Node has no FFI.
 */
export function freeMemoryReturn(): ReturnFreeMemory | null {
  const trim = allocatorFunction('malloc_trim', ['uint64']) as ((padBytes: bigint) => number) | null
  return trim && (() => void trim(0n))
}

/**
 * Makes the allocator hold less memory that nobody uses. To be called before the storage engine and the file system have
 * threads. Returns whether the allocator is glibc's.
 *
 * Threads that start after this call share the existing arenas. Otherwise glibc creates one for each of up to eight threads per
 * core. Each holds free memory that the others cannot use: 13 MB of an idle localnet, 67 MB at the peak of its first start,
 * 90 MB of pages on a store of 10 million trades.
 *
 * Large blocks stay mappings. Otherwise, once one of up to 32 MB is freed, glibc takes blocks of its size from an arena, where
 * answers that are evicted leave holes between smaller ones: 80 MB after answers of all lengths.
 */
export function holdLessFreeMemory(): boolean {
  const set = allocatorFunction('mallopt', ['int32', 'int32']) as
    | ((parameter: number, value: number) => number)
    | null
  return set?.(M_ARENA_MAX, 1) === 1 && set(M_MMAP_THRESHOLD, LARGE_BYTES) === 1
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
