import { Horizon } from '../../actors/stream/horizon.ts'
import { Replays } from '../../actors/stream/replays.ts'
import { StreamConnection } from '../../actors/stream/connection.ts'
import { Caller } from '../../src/access/caller.ts'
import { RateWindow } from '../../src/access/rate-window.ts'
import { WorkBudget } from '../../src/access/work-budget.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { copied, HEAP_ALLOCATOR } from '../../src/kernel/memory/arena.ts'
import { CashList } from '../../src/market/cash.ts'
import type { EncodedEvent, LogEntry, Allocator } from '../../src/market/log.ts'
import { BlockEvents } from '../../src/stream/block-events.ts'
import { ChannelTable } from '../../src/stream/channel-table.ts'
import { channelOf, isFault, PRIVATE_CHANNEL_SCOPES, type Channel } from '../../src/stream/channel.ts'
import { StreamHub } from '../../src/stream/hub.ts'
import { endOfSlot, retractionsOf, retractionsOn } from '../../src/stream/retractions.ts'
import { ChangeHistory } from '../../src/transactions/change-history.ts'
import { BUFFER, type Room } from '../../src/stream/outbox.ts'
import type { KeyRow } from '../../storage/access-documents.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { settle } from '../virtual-time.ts'
import { MemoryDocuments } from '../actors/webhooks/memory-documents.ts'
import { FakePipe } from './fake-pipe.ts'
import { TURNS_AT_ONCE } from '../../src/kernel/work/turns.ts'

const CASH = new CashList()
export const KEY: KeyRow = {
  id: 'k',
  hash: new Uint8Array(32),
  prefix: 'mr_live_k',
  tenant: 'acme',
  name: 'k',
  scopes: ['stream', ...Object.values(PRIVATE_CHANNEL_SCOPES)],
  createdAtMs: 0,
  ratePerMinute: null,
  expiresAtMs: null,
  revokedAtMs: null,
  allowedIps: [],
  corsOrigins: [],
  successor: null
}

/** A store that stores blocks unchanged, and answers when the test lets it. */
export class WorldStore {
  blocks: BlockCommit[] = []
  /** Turns of the event loop that each read takes, in order; further reads take none. */
  delays: number[] = []
  reads = 0

  get head() {
    return this.blocks.at(-1)?.slot ?? null
  }

  /** Retractions of blocks that were rolled back. */
  readonly #retracted: LogEntry[] = []

  eventsOf(channel: Channel, after: number, until: number): EncodedEvent[] {
    const table = new ChannelTable<true>()
    table.set(channel, true)
    const events = this.blocks.flatMap((block) => new BlockEvents(block, CASH).on(table).get(true) ?? [])
    return [...events, ...this.#retractedOn(channel)]
      .filter(({ cursor }) => cursor > after && cursor <= until)
      .sort((a, b) => a.cursor - b.cursor)
  }

  /** Rolls back the newest blocks and retracts their events before a slot. */
  rollBack(count: number, next: number): void {
    const lost = this.blocks.splice(-count, count)
    this.#retracted.push(...retractionsOf(lost, endOfSlot(next - 1), CASH).entries)
  }

  #retractedOn(channel: Channel): EncodedEvent[] {
    return retractionsOn(
      channel,
      this.#retracted.flatMap(({ events }) => events)
    )
  }

  readonly read = async (
    channel: Channel,
    after: number,
    until: number,
    { rows, allocator = HEAP_ALLOCATOR }: { rows: number; allocator?: Allocator }
  ) => {
    this.reads++
    const delay = this.delays.shift() ?? 0
    // A read sees the store at some moment between its call and its answer.
    for (let turn = 0; turn < delay; turn++) await settle()
    const events = this.eventsOf(channel, after, until)
      .slice(0, rows)
      .map(({ cursor, body }) => ({ cursor, body: copied(body, allocator) }))
    for (let turn = 0; turn < delay; turn++) await settle()
    return { events, to: events.length < rows ? until : events.at(-1)!.cursor }
  }
}

/** A process with a feed and a hub on a store. */
export class World {
  readonly feed = new CommitFeed()
  readonly hub: StreamHub
  readonly horizon: Horizon
  readonly faults: unknown[] = []
  readonly limits = new RateWindow(10)
  /** Callbacks of timers, in order; a test calls them. */
  readonly timers: (() => void)[] = []
  readonly #replays = new Replays(TURNS_AT_ONCE)
  readonly store: WorldStore
  readonly documents: MemoryDocuments
  readonly changes: ChangeHistory
  nowMs = 0
  room: Room = BUFFER
  /** Bytes that a socket accepts while its peer does not read. */
  socketBytes = 0

  constructor(store: WorldStore, documents = new MemoryDocuments()) {
    this.store = store
    this.documents = documents
    this.changes = new ChangeHistory(documents, { isShared: false, ttlMs: null })
    this.feed.restore(store.head)
    this.hub = new StreamHub(this.feed, CASH, (fault) => this.faults.push(fault))
    this.hub.follow()
    const { blocks } = store
    this.horizon = new Horizon(
      {
        head: async () => store.head,
        firstSince: async () => blocks[0]?.slot.slot ?? null,
        at: async () => blocks[0]?.slot ?? null
      },
      null
    )
  }

  /** Stores a block, then publishes it. */
  commit(block: BlockCommit): void {
    this.store.blocks.push(block)
    this.feed.publish(block)
  }

  /** Stores blocks, then publishes them together. */
  commitAll(blocks: readonly BlockCommit[]): void {
    this.store.blocks.push(...blocks)
    this.feed.publishAll(blocks)
  }

  /** Stores blocks that the feed skips. */
  jump(blocks: readonly BlockCommit[]): void {
    this.store.blocks.push(...blocks)
    this.feed.jump(this.store.head)
  }

  /** Removes the newest blocks from the store, as those of a lost fork; `next` is the slot of the next block. */
  rollBack(count: number, next: number): void {
    this.store.rollBack(count, next)
    this.feed.amend(this.store.head)
  }

  /** Inserts a block between the stored ones, and publishes that something has changed. */
  insert(block: BlockCommit): void {
    const { blocks } = this.store
    const at = blocks.findIndex(({ slot }) => slot.slot > block.slot.slot)
    blocks.splice(at, 0, block)
    this.feed.amend(this.store.head)
  }

  connect(
    ratePerMinute = 1_000_000,
    scopes: readonly string[] = KEY.scopes,
    workPerMinute?: number
  ): { connection: StreamConnection; pipe: FakePipe } {
    const pipe = new FakePipe(this.socketBytes)
    const connection = new StreamConnection(
      pipe,
      new Caller({ ...KEY, scopes: [...scopes] }, ratePerMinute, workPerMinute),
      {
        hub: this.hub,
        history: this.store,
        changes: this.changes,
        horizon: this.horizon,
        limits: this.limits,
        budget: new WorkBudget(this.limits.work),
        room: this.room,
        clock: {
          now: () => this.nowMs,
          setTimeout: (run) => this.timers.push(run),
          clearTimeout: () => undefined
        },
        replays: this.#replays,
        retry: (ask) => ask(),
        report: (fault) => this.faults.push(fault)
      }
    )
    connection.open()
    return { connection, pipe }
  }
}

export function send(connection: StreamConnection, message: object | string): void {
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  connection.receive(text, Buffer.byteLength(text))
}

export function channelNamed(name: string): Channel {
  const channel = channelOf(name)
  if (isFault(channel)) throw new Error(channel.message)
  return channel
}

/** Waits until no operation is in flight. */
export async function quiet(turns = 12): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settle()
}
