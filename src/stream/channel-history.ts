import type { LogStore, Storage } from '../../storage/port.ts'
import { HEAP_ALLOCATOR } from '../kernel/memory/arena.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { samePubkey } from '../chain/pubkey.ts'
import type { CashList } from '../market/cash.ts'
import { beforeWalletCopies, COPY_OFFSETS, eventCursor, walletCursor } from '../market/cursor.ts'
import type { EncodedEvent, LogChannel, LogEntry, Allocator } from '../market/log.ts'
import type { PoolRow } from '../market/registry-rows.ts'
import type { SlotRow, TradeRow } from '../market/rows.ts'
import { SingleFlight } from '../kernel/work/single-flight.ts'
import type { Channel } from './channel.ts'
import { DeliveryOrder, movesIn } from './delivery-order.ts'
import { encodePoolEvent, encodeTick, encodeTrade, tradeOffsets } from './encode.ts'
import { retractionsOn } from './retractions.ts'

/** A section of a channel's past. */
export interface Stretch {
  /** All events after the requested cursor up to `to`, in cursor order. */
  readonly events: readonly EncodedEvent[]
  readonly to: number
}

/** Limits of one read, to bound memory: rows, and slots of a channel whose events are stored encoded. */
export interface ReadLimits {
  readonly rows: number
  readonly parts: number
  /** Memory for events that are stored encoded. */
  readonly allocator?: Allocator
}

/** Lost forks read together with a page of rows. */
const RETRACTED_SLOTS = 4

/** Moves per read; each fork that was removed below the head has one. */
const MOVES_PER_READ = 100

/** Slots whose time of ingest is cached. */
const SLOTS_KNOWN = 4_096
/**
 * Slots read together if at least two of them are needed: on a cluster one such read takes as long as three single
 * reads. Other channels of the replay need the slots in between.
 */
const SLOTS_TOGETHER = 128

async function readMoves(log: LogStore): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  for (let from = -1; ;) {
    const page = await log.read('moves', { from, limit: MOVES_PER_READ })
    entries.push(...page)
    if (page.length === 0) return entries
    from = page.at(-1)!.events.at(-1)!.cursor
  }
}

/** Returns a function from an event's own cursor to the cursor at which it was sent, at the store's state at the call. */
export async function readSentCursors(log: LogStore): Promise<(cursor: number) => number> {
  const order = new DeliveryOrder(movesIn(await readMoves(log)))
  return (cursor) => order.sentCursor(cursor)
}

/** Reads the past of channels from the store. Reads reject with the store's error. */
export class ChannelHistory {
  readonly #storage: Pick<Storage, 'trades' | 'poolEvents' | 'pools' | 'blocks' | 'log' | 'history'>
  readonly #cash: CashList
  readonly #receivedAtMs = new Map<number, number>()
  /** The delivery order, and the number of amendments it is based on. */
  #known: { readonly amendments: number; readonly order: DeliveryOrder } | null = null
  /** Reads in flight, by section: channels of one replay need equal slots at once. */
  readonly #slotsInFlight = new SingleFlight<readonly SlotRow[]>()

  constructor(
    storage: Pick<Storage, 'trades' | 'poolEvents' | 'pools' | 'blocks' | 'log' | 'history'>,
    cash: CashList
  ) {
    this.#storage = storage
    this.#cash = cash
  }

  /**
   * Returns a channel's oldest events with `after` < cursor ≤ `until`, at the cursors at which they were sent.
   * `until` ends a slot. Repeats the read if an amendment happens meanwhile.
   */
  async read(channel: Channel, after: number, until: number, limits: ReadLimits): Promise<Stretch> {
    for (;;) {
      const { amendments, order } = await this.#order()
      const { end, sentCursor, ...own } = order.sectionAfter(after, until, channel.kind === 'wallet')
      const { events, to } = await this.#own(channel, own.after, own.until, limits)
      const sent = {
        events: events.map(({ cursor, body }) => ({ cursor: sentCursor(cursor), body })),
        to: to < own.until ? sentCursor(to) : end
      }
      const stretch = await this.#orRetracted(channel, after, sent)
      if ((await this.#storage.history.amendments()) === amendments) return stretch
    }
  }

  /** Returns the delivery order, and the number of amendments it is based on. Reloads the order after each amendment. */
  async #order(): Promise<{ readonly amendments: number; readonly order: DeliveryOrder }> {
    for (;;) {
      const amendments = await this.#storage.history.amendments()
      if (this.#known?.amendments === amendments) return this.#known
      const order = new DeliveryOrder(movesIn(await readMoves(this.#storage.log)))
      if ((await this.#storage.history.amendments()) === amendments)
        return (this.#known = { amendments, order })
    }
  }

  /** Returns events by their own cursors. */
  async #own(channel: Channel, after: number, until: number, limits: ReadLimits): Promise<Stretch> {
    if (after >= until) return { events: [], to: until }
    switch (channel.kind) {
      case 'trades':
        return this.#trades(channel.of, after, until, limits.rows)
      case 'price':
        return this.#ticks(channel.of, after, until, limits.rows)
      case 'pool':
        return this.#pool(channel.of, after, until, limits.rows)
      case 'wallet':
        return this.#walletTrades(channel.of, after, until, limits.rows)
      case 'venue':
        return this.#log(`venue:${channel.venue}`, after, until, limits)
      case 'launches':
      case 'curves':
      case 'pools':
        return this.#log(channel.kind, after, until, limits)
    }
  }

  async #log(
    channel: LogChannel,
    after: number,
    until: number,
    { parts: limit, allocator = HEAP_ALLOCATOR }: Pick<ReadLimits, 'parts' | 'allocator'>
  ): Promise<Stretch> {
    const entries = await this.#storage.log.read(channel, { from: after, until, limit, allocator })
    const events = entries.flatMap((entry) => entry.events)
    return { events, to: events.at(-1)?.cursor ?? until }
  }

  /**
   * Merges the retractions of a section into its events. They are read after the events: if the rows of a lost fork
   * are already deleted, their retractions must be found.
   */
  async #orRetracted(channel: Channel, after: number, { events, to }: Stretch): Promise<Stretch> {
    const retracted = await this.#log('retractions', after, to, { parts: RETRACTED_SLOTS })
    if (retracted.events.length === 0) return { events, to }
    return {
      events: [...events, ...retractionsOn(channel, retracted.events)]
        .filter(({ cursor }) => cursor <= retracted.to)
        .sort((a, b) => a.cursor - b.cursor),
      to: retracted.to
    }
  }

  async #trades(mint: Pubkey, after: number, until: number, limit: number): Promise<Stretch> {
    const rows = await this.#storage.trades.ofMint(mint, { from: after, until, order: 'asc', limit })
    const events = await this.#encoded(rows, (row, ms) => ({
      cursor: row.cursor,
      body: encodeTrade(row, ms, this.#cash)
    }))
    return { events, to: rows.length < limit ? until : rows.at(-1)!.cursor }
  }

  async #walletTrades(wallet: Pubkey, after: number, until: number, limit: number): Promise<Stretch> {
    const page = { from: beforeWalletCopies(after), until, order: 'asc', limit } as const
    const rows = await this.#storage.trades.ofWallet(wallet, page)
    const events = await this.#encoded(rows, (row, ms) => ({
      cursor: walletCursor(row.cursor),
      body: encodeTrade(row, ms, this.#cash)
    }))
    return { events, to: rows.length < limit ? until : walletCursor(rows.at(-1)!.cursor) }
  }

  async #ticks(mint: Pubkey, after: number, until: number, limit: number): Promise<Stretch> {
    const { price } = COPY_OFFSETS.trade
    const rows = await this.#storage.trades.ofMint(mint, { from: after - price, until, order: 'asc', limit })
    const forming = rows.filter((row) => row.priceForming)
    const events = await this.#encoded(forming, (row, ms) => ({
      cursor: row.cursor + price,
      body: encodeTick(row, ms)
    }))
    return { events, to: rows.length < limit ? until : rows.at(-1)!.cursor + price }
  }

  async #pool(pool: Pubkey, after: number, until: number, limit: number): Promise<Stretch> {
    const known = await this.#storage.pools.get(pool)
    const [trades, others] = await Promise.all([
      known === null ? { events: [], to: until } : this.#poolTrades(known, after, until, limit),
      this.#poolEvents(pool, after, until, limit)
    ])
    const to = Math.min(trades.to, others.to)
    const events = [...trades.events, ...others.events]
      .filter(({ cursor }) => cursor <= to)
      .sort((a, b) => a.cursor - b.cursor)
    return { events, to }
  }

  async #poolEvents(pool: Pubkey, after: number, until: number, limit: number): Promise<Stretch> {
    const rows = await this.#storage.poolEvents.ofPool(pool, { from: after, until, order: 'asc', limit })
    const events = await this.#encoded(rows, (row, ms) => ({
      cursor: row.cursor + COPY_OFFSETS[row.body.kind].pool,
      body: encodePoolEvent(row, ms)
    }))
    return { events, to: rows.length < limit ? until : rows.at(-1)!.cursor }
  }

  /** Trades are listed by mint, so a pool's trades are read from those of its token. */
  async #poolTrades(pool: PoolRow, after: number, until: number, limit: number): Promise<Stretch> {
    // The copy on the pool's channel has a cursor one or two above the row's, so the last one or two rows are read
    // again.
    const from = after - COPY_OFFSETS.trade.pool
    const rows = await this.#storage.trades.ofMint(pool.base, { from, until, order: 'asc', limit })
    const events = await this.#encoded(
      rows.filter((row) => samePubkey(row.pool, pool.pool)),
      (listed, ms) => {
        const row = firstRowOf(listed)
        return { cursor: row.cursor + tradeOffsets(row).pool, body: encodeTrade(row, ms, this.#cash) }
      }
    )
    const inside = events.filter(({ cursor }) => cursor > after)
    return {
      events: inside,
      to: rows.length < limit ? until : eventCursor(rows.at(-1)!) + COPY_OFFSETS.trade.pool
    }
  }

  async #encoded<Row extends { readonly slot: number }>(
    rows: readonly Row[],
    encode: (row: Row, receivedAtMs: number) => EncodedEvent
  ): Promise<EncodedEvent[]> {
    const unknown = new Set(rows.map(({ slot }) => slot).filter((slot) => !this.#receivedAtMs.has(slot)))
    const received = new Map<number, number>()
    const together = Map.groupBy(unknown, (slot) => Math.floor(slot / SLOTS_TOGETHER))
    const reads = Array.from(together, ([nth, slots]) => this.#slots(nth, slots))
    for (const found of await Promise.all(reads))
      for (const { slot, receivedAtMs } of found) received.set(slot, receivedAtMs)
    for (const [slot, ms] of received) this.#remember(slot, ms)
    return rows.flatMap((row) => {
      const ms = received.get(row.slot) ?? this.#receivedAtMs.get(row.slot)
      // A row without a slot belongs to a fork that was lost during the read.
      return ms === undefined ? [] : [encode(row, ms)]
    })
  }

  /** Returns the slots of the n-th section that are committed, including the given ones. */
  async #slots(nth: number, asked: readonly number[]): Promise<readonly SlotRow[]> {
    const { blocks } = this.#storage
    const key = String(nth)
    const inFlight = this.#slotsInFlight.get(key)
    if (inFlight === undefined && asked.length > 1) {
      const first = nth * SLOTS_TOGETHER
      return this.#slotsInFlight.run(key, () => blocks.between(first, first + SLOTS_TOGETHER - 1))
    }
    const shared = (await inFlight) ?? []
    const known = new Set(shared.map(({ slot }) => slot))
    // A read that began earlier may have missed the newest slots.
    const rows = await Promise.all(asked.filter((slot) => !known.has(slot)).map((slot) => blocks.at(slot)))
    return [...shared, ...rows.filter((row) => row !== null)]
  }

  #remember(slot: number, ms: number): void {
    this.#receivedAtMs.set(slot, ms)
    if (this.#receivedAtMs.size <= SLOTS_KNOWN) return
    for (const oldest of this.#receivedAtMs.keys()) {
      this.#receivedAtMs.delete(oldest)
      return
    }
  }
}

/**
 * Returns the row of the mint paid in. A trade without a cash side is listed under both mints; channels other than
 * `trades:` carry only that row.
 */
function firstRowOf(row: TradeRow): TradeRow {
  const cursor = eventCursor(row)
  return cursor === row.cursor ? row : { ...row, cursor, mint: row.inMint }
}
