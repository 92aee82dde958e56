import { Registry } from 'prom-client'
import { pino } from 'pino'
import { Ingester } from '../../../actors/ingest/ingester.ts'
import type { UndoPolicy } from '../../../actors/ingest/undo-history.ts'
import type { SourceGap, SourcedBlock } from '../../../src/node/block-source.ts'
import type { Block } from '../../../src/chain/transaction.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import { CommittedBlocks } from '../../../src/ingest/committed-blocks.ts'
import { DecodingReport } from '../../../src/ingest/decoding-report.ts'
import { CashList } from '../../../src/market/cash.ts'
import { systemPorts, type Clock } from '../../../src/ports.ts'
import { ingestMetrics } from '../../../src/ingest/metrics.ts'
import type { BlockCommit, Storage } from '../../../storage/port.ts'
import { ForkListener } from './fork-listener.ts'
import { marketBlocks } from './market-blocks.ts'

const NOW_MS = 1_790_000_000_000
const clock: Clock = { ...systemPorts.clock, now: () => NOW_MS }
export const UNDO_POLICY: UndoPolicy = { forForks: true, forGaps: true }
export const CASH = new CashList()

/** The chain as it is in the end, with hashes. */
export const chain = (await marketBlocks('a node that is put back', 70)).map((block) => named(block, ''))

function named(block: Block, fork: string): Block {
  return { ...block, blockhash: `${block.slot}${fork}`, parentBlockhash: `${block.parentSlot}` }
}

export const sourced = (block: Block): SourcedBlock => ({
  block,
  commitment: 'confirmed',
  receivedAtMs: NOW_MS
})

/** Returns a fork after one of the chain's blocks, with the content of later blocks, in the slots that follow. */
export function forkAfter(at: number, length: number, name: string): Block[] {
  const { slot, blockTime } = chain[at]!
  return chain
    .slice(at + 5, at + 5 + length)
    .map((block, i) => named({ ...block, slot: slot + 1 + i, parentSlot: slot + i, blockTime }, name))
}

export interface Opened {
  readonly storage: Storage
  readonly ingester: Ingester
  readonly listener: ForkListener
  readonly published: BlockCommit[]
  readonly logged: string[]
  readonly committedBlocks: CommittedBlocks
}

/** Opens an ingester on a store, with a listener. */
export async function openedOn(storage: Storage, undoPolicy = UNDO_POLICY): Promise<Opened> {
  const head = await storage.blocks.claim(null)
  const decoding = new DecodingReport()
  const feed = new CommitFeed()
  feed.restore(head)
  const committedBlocks = new CommittedBlocks(feed)
  const published: BlockCommit[] = []
  const logged: string[] = []
  feed.follow({ published: (commit) => void published.push(commit) })
  const listener = new ForkListener(feed, storage, CASH, clock)
  const log = { write: (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg) }
  const deps = {
    fold: { cash: CASH, startingSolUsd: null },
    undoPolicy,
    feed,
    decoding,
    metrics: ingestMetrics(new Registry()),
    logger: pino({ base: null }, log),
    clock,
    committedBlocks
  }
  const ingester = await Ingester.open(storage, head, deps)
  return { storage, ingester, listener, published, logged, committedBlocks }
}

/** Returns the first block of the chain above a slot, with the rollback that it reveals after one of its blocks. */
export function rollbackAfter(
  at: number,
  headSlot: number,
  lost: readonly number[] = []
): { block: SourcedBlock; next: number } {
  const next = chain.findIndex(({ slot }) => slot > headSlot)
  async function* blocks(): AsyncGenerator<SourcedBlock | SourceGap> {
    for (const block of chain.slice(at + 1, next)) {
      if (lost.includes(block.slot)) yield { from: block.slot, to: block.slot, reason: 'missing' }
      else yield sourced(block)
    }
  }
  const rollback = { after: chain[at]!.slot, doubt: null, blocks: blocks() }
  return { block: { ...sourced(chain[next]!), rollback }, next }
}
