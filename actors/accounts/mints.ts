import { MintDirectory } from '../../src/accounts/mint-directory.ts'
import type { AccountNode } from '../../src/accounts/ports.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { RANKS_MAX } from '../../src/market/ranking.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Readings } from './shared-readings.ts'
import type { NameIndex } from '../../src/data/name-index.ts'
import type { RankingHandle } from '../../src/data/ranking-handle.ts'
import type { Run } from '../supervision/process.ts'

/**
 * Poll interval of the ranking for traded tokens whose accounts were not read, in milliseconds. A ranking changes little in
 * a minute.
 */
const POLL_INTERVAL_MS = 60_000
/** Delay of the first poll, in milliseconds; the ranking is usually loaded by then. */
const FIRST_POLL_DELAY_MS = 5_000

export interface MintsNeeds {
  readonly accounts: AccountNode
  readonly readings: Readings
}

export interface MintsDeps {
  readonly clock: Clock
  /** Maximum size of the cache, in bytes. */
  readonly bytesMax: number
  /** Receives the names of every mint that is read. */
  readonly names: NameIndex
  readonly ranking: RankingHandle
  /** Whether this process answers searches of others, which must find the names of every mint that any process has read. */
  readonly answersOthers: () => boolean
}

/**
 * Owns the cache of mint facts and its reads. Mints with the largest volume of the last day are read without a request, so
 * that a search finds them by name.
 */
export function mintDirectory({
  clock,
  bytesMax,
  names,
  ranking,
  answersOthers
}: MintsDeps): Run<MintsNeeds, MintDirectory> {
  return async ({ input, draining, ready, gauge }) => {
    const directory = new MintDirectory({
      node: input.accounts,
      clock,
      bytesMax,
      shared: input.readings.shared,
      isWanted: (mint) => answersOthers() && !names.hasAccountNames(mint),
      onFacts: ({ mint, names: stated }) => names.setAccountNames(mint, stated)
    })
    gauge('mints', () => directory.size)
    gauge('bytes', () => directory.bytes)
    gauge('bytes_max', () => bytesMax)
    gauge('mints_waiting', () => directory.waiting)
    gauge('reads_failed', () => directory.failed)
    gauge('refreshes_dropped', () => directory.dropped)
    gauge('readings_shared', () => directory.counts.shared)
    gauge('readings_of_others', () => directory.counts.taken)
    gauge('readings_unshared', () => directory.counts.alone)
    try {
      ready(directory)
      await sleep(clock, FIRST_POLL_DELAY_MS, draining)
      while (!draining.aborted) {
        const ranked = (ranking.current?.top('24h', RANKS_MAX) ?? []).map(({ mint }) => mint)
        const lacksNames = (mint: Pubkey): boolean => !names.hasAccountNames(mint)
        // Another gateway may have read them.
        await directory.recall(ranked.filter(lacksNames))
        for (const mint of ranked.filter(lacksNames)) directory.refresh(mint)
        await sleep(clock, POLL_INTERVAL_MS, draining)
      }
    } finally {
      directory.close()
    }
  }
}
