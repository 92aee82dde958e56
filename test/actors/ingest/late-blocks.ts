import { Registry } from 'prom-client'
import { pino } from 'pino'
import type { Test } from 'tap'
import { backfill } from '../../../actors/ingest/backfill.ts'
import { ingest } from '../../../actors/ingest/ingest.ts'
import type { UndoPolicy } from '../../../actors/ingest/undo-history.ts'
import { store } from '../../../actors/storage/store.ts'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../../actors/supervision/unit.ts'
import type { RefetchBlock, BlockSource } from '../../../src/node/block-source.ts'
import type { Block } from '../../../src/chain/transaction.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import { DecodingReport } from '../../../src/ingest/decoding-report.ts'
import { CashList } from '../../../src/market/cash.ts'
import { cursorAt, endOfEvents } from '../../../src/market/cursor.ts'
import { systemPorts, type Clock } from '../../../src/ports.ts'
import { BlockEvents } from '../../../src/stream/block-events.ts'
import { ChannelHistory } from '../../../src/stream/channel-history.ts'
import { ChannelTable } from '../../../src/stream/channel-table.ts'
import { channelsOf } from '../../../src/stream/retractions.ts'
import { ingestMetrics } from '../../../src/ingest/metrics.ts'
import { storeMetrics } from '../../../src/store/metrics.ts'
import type { BlockCommit, GapRow, Storage } from '../../../storage/port.ts'
import { ForkListener } from './fork-listener.ts'
import { aborted } from '../supervision/recorder.ts'
import { lookAgain } from '../../look-again.ts'

const CASH = new CashList()
const RECEIVED_MS = 1_790_000_000_000
/** Timers are real and the time of day stands still, so that stored rows do not depend on it. */
const clock: Clock = { ...systemPorts.clock, now: () => RECEIVED_MS }
export const FOR_GAPS: UndoPolicy = { forForks: false, forGaps: true }
export const FOR_FORKS: UndoPolicy = { forForks: true, forGaps: true }

/** A step of a source: a block, a gap that it reports before the next block, or a condition to wait for. */
export type Step =
  | Block
  | { readonly gap: readonly [number, number] }
  | { readonly until: () => Promise<boolean> }

export interface Course {
  readonly steps: readonly Step[]
  readonly undoPolicy?: UndoPolicy
  /** Decides whether nodes have the block of a slot; `asked` counts the requests for it. */
  readonly has?: (slot: number, asked: number) => boolean
  readonly node: readonly Block[]
}

export interface Run {
  readonly storage: Storage
  /** Published blocks, in order. */
  readonly published: readonly BlockCommit[]
  readonly logged: readonly string[]
  /** Slots requested from nodes, in order. */
  readonly asked: readonly number[]
  /** The stream's client that received the blocks. */
  readonly listener: ForkListener
  /** Number of times that the feed reported a change of published blocks. */
  readonly jumps: () => number
  end(): Promise<void>
}

/** Runs a source, ingest and the backfill on a store until the source has ended. */
export async function run(openStore: () => Promise<Storage>, course: Course): Promise<Run> {
  const { steps, undoPolicy = FOR_GAPS, has = () => true, node } = course
  const logged: string[] = []
  const asked: number[] = []
  const log = {
    write: (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg)
  }
  const logger = pino({ base: null }, log)
  const decoding = new DecodingReport()
  const registry = new Registry()
  const metrics = { ...ingestMetrics(registry), ...storeMetrics(registry) }
  const feed = new CommitFeed()
  let jumps = 0
  feed.onJump(() => jumps++)
  const published: BlockCommit[] = []
  feed.follow({ published: (commit) => void published.push(commit) })
  const through = Promise.withResolvers<void>()
  let storage: Storage | null = null
  let listener: ForkListener | null = null
  const open = async (): Promise<Storage> => {
    storage = await openStore()
    listener = new ForkListener(feed, storage, CASH, clock)
    return storage
  }
  const source: BlockSource & { refetch?: RefetchBlock } = {
    async *blocks({ after }) {
      for (const step of steps) {
        if ('gap' in step) {
          const [from, to] = step.gap
          await storage!.coverage.addGap({ from, to, reason: 'missing', detail: 'on purpose', atMs: 1 })
        } else if ('until' in step) while (!(await step.until())) await lookAgain()
        else if (step.slot > (after ?? -1) || undoPolicy.forForks)
          yield { block: step, commitment: 'confirmed', receivedAtMs: RECEIVED_MS }
      }
      through.resolve()
    }
  }
  const fetch = async (slot: number): Promise<Block | null> => {
    asked.push(slot)
    const times = asked.filter((other) => other === slot).length
    return has(slot, times) ? (node.find((block) => block.slot === slot) ?? null) : null
  }
  source.refetch = async (slot) => {
    const block = await fetch(slot)
    if (block !== null) return { block, commitment: 'confirmed', receivedAtMs: RECEIVED_MS }
    return node.some((block) => block.slot === slot) ? null : 'skipped'
  }
  const fold = { cash: CASH, startingSolUsd: null }
  const deps = { fold, undoPolicy, feed, decoding, metrics, logger, clock }
  const tuning = { floorMs: 5, ceilingMs: 20 }
  const supervision = supervise(
    supervisor('service', 'rest_for_one', [
      child(
        'storage',
        store(open, async () => undefined, { clock, logger, metrics })
      ),
      child<'source', unknown, BlockSource>('source', async ({ ready, draining }) => {
        ready(source)
        await aborted(draining)
      }),
      child('ingest', ingest(deps)),
      child(
        'backfill',
        backfill({ fetch, commitment: 'confirmed', tuning }, { clock, random: () => 0.5, logger })
      )
    ]),
    { clock, random: () => 0.5 }
  )
  await through.promise
  return {
    storage: storage!,
    published,
    logged,
    asked,
    listener: listener!,
    jumps: () => jumps,
    async end() {
      await supervision.drain()
    }
  }
}

export const gaps = (storage: Storage): Promise<GapRow[]> =>
  storage.coverage.gaps({ after: null, limit: 100 })

/** Resolves once a block is the head and no gap is open. */
export async function closed({ storage }: Run, last: Block): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = async (): Promise<void> => {
    const head = await storage.blocks.head()
    const isDone = head?.slot === last.slot && (await gaps(storage)).length === 0
    if (isDone) resolve()
    else setTimeout(() => void look(), 5)
  }
  await look()
  return promise
}

/** Returns the steps of blocks without those at some places. A gap is reported before the block that follows it. */
export function without(
  blocks: readonly Block[],
  ...missing: readonly (readonly [number, number])[]
): Step[] {
  return blocks.flatMap((block, at): Step[] => {
    const ended = missing.find(([, last]) => last + 1 === at)
    if (missing.some(([first, last]) => first <= at && at <= last)) return []
    if (ended === undefined) return [block]
    return [{ gap: [blocks[ended[0] - 1]!.slot + 1, block.slot - 1] }, block]
  })
}

/** Place of the block that follows a range of empty slots, and their number: the longest fork that fits. */
const FORK_AT = 60
const FORK_ROOM = 20

/** Returns the chain with room for a fork. */
export function withRoom(blocks: readonly Block[]): Block[] {
  return blocks.map((block, at) => {
    if (at < FORK_AT) return block
    const slot = block.slot + FORK_ROOM
    return { ...block, slot, parentSlot: block.parentSlot! + (at === FORK_AT ? 0 : FORK_ROOM) }
  })
}

/** Returns the steps of a chain with room for a fork, and a fork that is lost. */
export function withFork(blocks: readonly Block[], depth: number): Step[] {
  const { slot: before, blockTime } = blocks[FORK_AT - 1]!
  const fork = blocks.slice(FORK_AT + 10, FORK_AT + 10 + depth).map((block, i) => ({
    ...block,
    slot: before + 1 + i,
    parentSlot: before + i,
    blockTime
  }))
  return [...blocks.slice(0, FORK_AT), ...fork, ...blocks.slice(FORK_AT)]
}

/**
 * Asserts that the store retracts all published events of a lost fork, on every channel, newest first. The retractions come
 * after the events and before the events that follow. Returns the slot of the retractions.
 */
export async function assertRetracted(t: Test, { storage, published }: Run): Promise<number> {
  const isStored = await Promise.all(published.map(({ slot }) => storage.blocks.has(slot.slot)))
  const lost = published.filter((_, i) => !isStored[i])
  const next = published.find(({ slot }, i) => isStored[i] && slot.slot > lost.at(-1)!.slot.slot)!
  const history = new ChannelHistory(storage, CASH)
  const limits = { rows: 1_000, parts: 1_000 }
  const channels = new Map(
    lost.flatMap((block) => [...channelsOf(block)]).map((channel) => [channel.name, channel])
  )
  for (const channel of channels.values()) {
    const table = new ChannelTable<true>()
    table.set(channel, true)
    const events = lost.flatMap((block) => new BlockEvents(block, CASH).on(table).get(true) ?? [])
    const [after, until] = [endOfEvents(lost[0]!.slot.slot - 1), cursorAt(next.slot.slot, 0) - 1]
    const retracted = await history.read(channel, after, until, limits)
    t.strictSame(
      retracted.events.map(
        ({ body }) => (JSON.parse(`${Buffer.from(body).toString()}0}`) as { of: number }).of
      ),
      events.map(({ cursor }) => cursor).reverse(),
      `${events.length} events on ${channel.name}`
    )
  }
  t.ok(channels.size > 5, `${channels.size} channels`)
  return next.slot.slot - 1
}
