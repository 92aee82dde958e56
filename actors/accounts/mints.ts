import { MintDirectory } from '../../src/accounts/mint-directory.ts'
import type { AccountNode } from '../../src/accounts/ports.ts'
import type { Clock } from '../../src/ports.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

export interface MintsNeeds {
  readonly accounts: AccountNode
}

/** Owns the cache of mint facts and its reads. */
export function mintDirectory(clock: Clock, bytesMax: number): Run<MintsNeeds, MintDirectory> {
  return async ({ input, draining, ready, gauge }) => {
    const directory = new MintDirectory({ node: input.accounts, clock, bytesMax })
    gauge('mints', () => directory.size)
    gauge('bytes', () => directory.bytes)
    gauge('bytes_max', () => bytesMax)
    gauge('mints_waiting', () => directory.waiting)
    gauge('reads_failed', () => directory.failed)
    gauge('refreshes_dropped', () => directory.dropped)
    try {
      ready(directory)
      await aborted(draining)
    } finally {
      directory.close()
    }
  }
}
