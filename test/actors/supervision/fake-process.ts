import { Registry } from 'prom-client'
import { pino } from 'pino'
import { follower } from '../../../actors/ingest/follower.ts'
import { leader } from '../../../actors/ingest/leader.ts'
import { coordination } from '../../../actors/cluster/coordination.ts'
import { NO_UNDO } from '../../../actors/ingest/undo-history.ts'
import { store } from '../../../actors/storage/store.ts'
import { supervise, type Supervision } from '../../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../../actors/supervision/unit.ts'
import type { BlockSource } from '../../../src/node/block-source.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import type { ClusterCoordination } from '../../../storage/cluster/coordination.ts'
import { DecodingReport } from '../../../src/ingest/decoding-report.ts'
import { CashList } from '../../../src/market/cash.ts'
import { LeaseBook } from '../../../src/fleet/lease-book.ts'
import { sleep, type Clock } from '../../../src/ports.ts'
import { ingestMetrics, type IngestMetrics } from '../../../src/ingest/metrics.ts'
import { storeMetrics, type StoreMetrics } from '../../../src/store/metrics.ts'
import type { Storage } from '../../../storage/port.ts'
import { aborted } from './recorder.ts'

/** The units of one service process that handle blocks. */
export interface FakeProcess {
  readonly feed: CommitFeed
  /** Slots that the feed published, and `jump` where it missed blocks in between. */
  readonly published: (number | 'jump')[]
  /** Logged messages of level `info` and above. */
  readonly logged: readonly string[]
  readonly metrics: IngestMetrics & StoreMetrics
  readonly leases: LeaseBook
  readonly running: Supervision
}

/** A chain of blocks without events, one of them every `everyMs`, up to the slot `last`. */
export function chainOf(clock: Clock, everyMs: number, last: number): BlockSource {
  return {
    async *blocks({ after, signal }) {
      for (let slot = (after ?? 0) + 1; slot <= last; slot++) {
        await sleep(clock, everyMs, signal)
        if (signal.aborted) return
        const block = {
          slot,
          blockTime: 1_700_000_000 + slot,
          parentSlot: slot - 1,
          transactions: [],
          votes: 0
        }
        yield { block, commitment: 'finalized' as const, receivedAtMs: 0 }
      }
    }
  }
}

export interface ProcessParts {
  readonly clock: Clock
  readonly open: () => Storage
  readonly peers: ClusterCoordination
  /** Null for a process that does not ingest. */
  readonly source: BlockSource | null
}

export function startFakeProcess({ clock, open, peers: others, source }: ProcessParts): FakeProcess {
  const feed = new CommitFeed()
  const published: (number | 'jump')[] = []
  feed.follow({ published: ({ slot }) => void published.push(slot.slot) })
  feed.onJump(() => void (published.length > 0 && published.push('jump')))
  const logged: string[] = []
  const write = (line: string): void => void logged.push((JSON.parse(line) as { msg: string }).msg)
  const logger = pino({ base: null }, { write })
  const decoding = new DecodingReport()
  const registry = new Registry()
  const metrics = { ...ingestMetrics(registry), ...storeMetrics(registry) }
  const leases = new LeaseBook()
  const fold = { cash: new CashList(), startingSolUsd: 150 }
  const outer = [
    child(
      'peers',
      coordination(async () => others, { clock, metrics })
    ),
    child(
      'storage',
      store(
        async () => open(),
        async () => undefined,
        { clock, logger, metrics }
      )
    )
  ] as const
  const sourced = child<'source', unknown, BlockSource>('source', async ({ ready, draining }) => {
    ready(source!)
    await aborted(draining)
  })
  const ingesting = child(
    'ingest',
    leader({ fold, undoPolicy: NO_UNDO, feed, decoding, metrics, leases, logger, clock })
  )
  const following = child('follower', follower({ feed, metrics, clock }))
  const tree =
    source === null
      ? supervisor('service', 'rest_for_one', [...outer, supervisor('chain', 'rest_for_one', [following])])
      : supervisor('service', 'rest_for_one', [
          ...outer,
          supervisor('chain', 'rest_for_one', [sourced, ingesting])
        ])
  const running = supervise(tree, { clock, random: () => 1 })
  return { feed, published, logged, metrics, leases, running }
}
