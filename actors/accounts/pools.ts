import { PoolDirectory } from '../../src/accounts/pools/pool-directory.ts'
import type { Clock } from '../../src/ports.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'
import type { MintsNeeds } from './mints.ts'

/** Owns the cache of pools' states and its reads. */
export function poolDirectory(clock: Clock, bytesMax: number): Run<MintsNeeds, PoolDirectory> {
  return async ({ input, draining, ready, gauge }) => {
    const directory = new PoolDirectory({
      node: input.accounts,
      clock,
      bytesMax,
      shared: input.readings.shared
    })
    gauge('pools', () => directory.size)
    gauge('bytes', () => directory.bytes)
    gauge('bytes_max', () => bytesMax)
    gauge('pools_waiting', () => directory.waiting)
    gauge('reads_failed', () => directory.failed)
    gauge('refreshes_dropped', () => directory.dropped)
    gauge('readings_shared', () => directory.counts.shared)
    gauge('readings_of_others', () => directory.counts.taken)
    gauge('readings_unshared', () => directory.counts.alone)
    try {
      ready(directory)
      await aborted(draining)
    } finally {
      directory.close()
    }
  }
}
