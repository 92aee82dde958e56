import type { CacheUse } from '../../src/kernel/memory/second-chance-cache.ts'
import type { ProcessScope } from '../supervision/process.ts'

/**
 * Adds two gauges of a cache to the process tree: `NAME_bytes` (in use) and `NAME_bytes_max` (its share of the memory
 * budget).
 */
export function cacheGauges(gauge: ProcessScope<unknown>['gauge'], name: string, read: () => CacheUse): void {
  gauge(`${name}_bytes`, () => read().bytes)
  gauge(`${name}_bytes_max`, () => read().bytesMax)
}
