import type { CacheUse } from '../../src/memory/second-chance.ts'
import type { ProcessScope } from '../supervision/process.ts'

/** Shows a cache in the tree: `NAME_bytes` in use, of `NAME_bytes_max` that its part of the memory budget has. */
export function cacheGauges(gauge: ProcessScope<unknown>['gauge'], name: string, read: () => CacheUse): void {
  gauge(`${name}_bytes`, () => read().bytes)
  gauge(`${name}_bytes_max`, () => read().bytesMax)
}
