import { decodeTransactions } from '../src/chain/decode-block.ts'
import type { BlockSource, SourcedBlock } from '../src/block-source.ts'
import type { CommitFeed } from '../src/commit-feed.ts'
import type { DecodingReport } from '../src/decoding-report.ts'
import type { DecodedBlock } from '../src/market/block.ts'
import { foldBlock, type FoldOptions } from '../src/market/fold.ts'
import type { MarketState } from '../src/market/market-state.ts'
import { touchedBy } from '../src/market/touched.ts'
import type { Clock } from '../src/ports.ts'
import type { Logger, Metrics } from '../src/telemetry.ts'
import type { Storage } from '../storage/port.ts'
import { aborted } from './aborted.ts'
import { loadMissing, restoreMarket } from './market-loader.ts'
import type { Run } from './process.ts'

export interface IngestDeps {
  readonly fold: FoldOptions
  readonly feed: CommitFeed
  readonly decoding: DecodingReport
  readonly metrics: Metrics
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * The process that turns blocks into stored rows.
 *
 * I1. A block is one durable commit; nothing of it is visible before (the store's promise).
 * I2. What is remembered between blocks follows from the store: a restart goes on after the head as if undisturbed
 *     (INVARIANTS 6).
 * I3. A block that cannot be committed crashes the process, which is restarted and reads it again.
 * I4. Followers of the feed hear of each committed block once, whatever restarts.
 */
export function ingest(deps: IngestDeps): Run<{ readonly storage: Storage; readonly source: BlockSource }> {
  return async ({ input: { storage, source }, draining, ready, gauge }) => {
    const head = await storage.blocks.head()
    deps.feed.restore(head)
    const market = await restoreMarket(storage, head)
    const resumed = head === null ? 'an empty store' : `slot ${head.slot}`
    deps.logger.info({ slot: head?.slot }, `ingest goes on after ${resumed}`)
    let blocks = 0
    gauge('blocks', () => blocks)
    gauge('pairs_in_memory', () => market.size.pairs)
    gauge('launches_in_memory', () => market.size.launches)
    gauge('tokens_in_memory', () => market.size.tokens)
    gauge('pools_in_memory', () => market.size.pools)
    gauge('curves_in_memory', () => market.size.curves)
    ready()
    for await (const sourced of source.blocks({ after: head?.slot ?? null, signal: draining })) {
      if (draining.aborted) return
      await ingestBlock(sourced, market, storage, deps)
      blocks++
    }
    if (!draining.aborted) deps.logger.info({ blocks }, 'the source has no more blocks')
    await aborted(draining)
  }
}

/** Decodes, folds and commits one block. */
export async function ingestBlock(
  sourced: SourcedBlock,
  market: MarketState,
  storage: Storage,
  { fold: options, feed, decoding, metrics, logger, clock }: IngestDeps
): Promise<void> {
  const { block, commitment, receivedAtMs } = sourced
  const { entries, notes } = decodeTransactions(block.transactions)
  const { slot, blockTime, parentSlot, transactions, votes } = block
  const decoded: DecodedBlock = {
    slot,
    blockTime,
    parentSlot,
    receivedAtMs,
    commitment,
    transactions: transactions.length + votes,
    entries
  }
  const missing = market.missing(touchedBy(decoded, options.cash))
  market.load(await loadMissing(storage, missing))
  const fold = foldBlock(market, decoded, options)
  const startedMs = clock.now()
  await feed.commit(fold, storage.blocks)
  metrics.commitSeconds.observe((clock.now() - startedMs) / 1000)
  market.apply(fold)
  decoding.count(entries, notes)
  metrics.blocks.inc()
  metrics.transactions.inc({ kind: 'vote' }, votes)
  metrics.transactions.inc({ kind: 'other' }, transactions.length)
  metrics.headSlot.set(slot)
  metrics.headTime.set(blockTime)
  if (fold.leftOut > 0)
    logger.error({ slot, left_out: fold.leftOut }, 'a slot has more events than positions')
  logger.debug(
    { slot, trades: fold.slot.trades, events: fold.slot.events, notes: notes.length },
    'block committed'
  )
}
