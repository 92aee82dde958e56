import { Registry } from 'prom-client'
import { pino } from 'pino'
import { Ingester, type IngesterDeps } from '../../../actors/ingest/ingester.ts'
import { NO_UNDO } from '../../../actors/ingest/undo-history.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import { DecodingReport } from '../../../src/ingest/decoding-report.ts'
import { CashList } from '../../../src/market/cash.ts'
import { systemPorts } from '../../../src/ports.ts'
import { ingestMetrics } from '../../../src/ingest/metrics.ts'
import { CommittedBlocks, type BlockObserver } from '../../../src/ingest/committed-blocks.ts'
import type { Storage } from '../../../storage/port.ts'

/** Ingest without a service: its feed has only the given followers, and it neither logs nor retains blocks. */
export function loneIngester(
  storage: Storage,
  writes?: Parameters<typeof Ingester.open>[3],
  decoding = new DecodingReport(),
  observers: readonly BlockObserver[] = [],
  feed = new CommitFeed(),
  committedBlocks = new CommittedBlocks(feed),
  more: Pick<IngesterDeps, 'solUsdBefore'> = {}
): Promise<Ingester> {
  for (const observer of observers) committedBlocks.subscribe(observer)
  const deps = {
    fold: { cash: new CashList(), startingSolUsd: null },
    undoPolicy: NO_UNDO,
    feed,
    committedBlocks,
    decoding,
    metrics: ingestMetrics(new Registry()),
    logger: pino({ level: 'silent' }),
    clock: systemPorts.clock,
    ...more
  }
  return Ingester.open(storage, null, deps, writes)
}
