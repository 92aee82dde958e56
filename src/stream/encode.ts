import { launchEvent, poolEvent, priceTick, tradeEvent } from './bodies/stream-event.ts'
import { samePubkey } from '../chain/pubkey.ts'
import type { CashList } from '../market/cash.ts'
import { COPY_OFFSETS } from '../market/cursor.ts'
import type { EncodedEvent, LogChannel, LogEntry } from '../market/log.ts'
import type { LaunchRow, PoolEventRow, TradeRow } from '../market/rows.ts'
import type { BlockCommit } from '../market/records.ts'

/** The rows of a block that are events. */
export type EventRows = Pick<BlockCommit, 'slot' | 'trades' | 'poolEvents' | 'launches'>

/** Returns the offsets of a trade's copies from its first cursor. */
export const tradeOffsets = (row: TradeRow) =>
  row.cashSide === null ? COPY_OFFSETS.swap : COPY_OFFSETS.trade

/**
 * Returns whether channels other than `trades:` carry this row. A trade without a cash side has two rows; only the
 * first is carried.
 */
export const isFirstRow = (row: TradeRow): boolean =>
  row.cashSide !== null || samePubkey(row.mint, row.inMint)

export const encodeTrade = (row: TradeRow, receivedAtMs: number, cash: CashList): Uint8Array =>
  encode(tradeEvent(row, receivedAtMs, cash))

export const encodeLaunch = (row: LaunchRow): Uint8Array => encode(launchEvent(row))

export const encodePoolEvent = (row: PoolEventRow, receivedAtMs: number): Uint8Array =>
  encode(poolEvent(row, receivedAtMs))

export const encodeTick = (row: TradeRow, receivedAtMs: number): Uint8Array =>
  encode(priceTick(row, receivedAtMs))

const CURSOR_KEY = Buffer.from(',"cursor":')

/** Bytes of a shared buffer. About fifty events of a block share a buffer, because they are created and dropped together. */
const CHUNK_BYTES = 64 * 2 ** 10
const UTF8_BYTES_MAX = 3
let chunk = Buffer.alloc(0)
let next = 0

/** Encodes an event's `data` up to the value of its cursor, which differs between channels; `before` is a prefix. */
export function encode(data: object, before = ''): Uint8Array {
  const text = before + JSON.stringify(data)
  const most = UTF8_BYTES_MAX * text.length + CURSOR_KEY.length
  if (next + most > chunk.length) {
    chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, most))
    next = 0
  }
  const start = next
  // The key replaces the closing brace of the text.
  const end = start + chunk.write(text, start) - 1
  chunk.set(CURSOR_KEY, end)
  next = end + CURSOR_KEY.length
  return new Uint8Array(chunk.buffer, start, next - start)
}

/** Encodes the events of a block for the channels that are stored encoded. */
export function encodeLog({ slot, trades, poolEvents, launches }: EventRows, cash: CashList): LogEntry[] {
  const { receivedAtMs } = slot
  const entries = new LogEntries(slot.slot)
  for (const row of trades) {
    if (!isFirstRow(row)) continue
    const body = encodeTrade(row, receivedAtMs, cash)
    entries.add(`venue:${row.venue}`, { cursor: row.cursor + tradeOffsets(row).venue, body })
  }
  for (const row of poolEvents) {
    const body = encodePoolEvent(row, receivedAtMs)
    const { kind } = row.body
    entries.add(`venue:${row.venue}`, { cursor: row.cursor + COPY_OFFSETS[kind].venue, body })
    if (kind === 'pool') entries.add('pools', { cursor: row.cursor + COPY_OFFSETS.pool.pools, body })
    if (kind === 'curve') entries.add('curves', { cursor: row.cursor + COPY_OFFSETS.curve.curves, body })
  }
  for (const row of launches) {
    // The other rows are launches of earlier blocks whose status changed.
    if (row.slot !== slot.slot) continue
    const body = encodeLaunch(row)
    entries.add('launches', { cursor: row.cursor + COPY_OFFSETS.launch.launches, body })
    entries.add(`venue:${row.venue}`, { cursor: row.cursor + COPY_OFFSETS.launch.venue, body })
  }
  return entries.inOrder()
}

/** Events of a slot, by stored channel. */
export class LogEntries {
  readonly #slot: number
  readonly #events = new Map<LogChannel, EncodedEvent[]>()

  constructor(slot: number) {
    this.#slot = slot
  }

  add(channel: LogChannel, event: EncodedEvent): void {
    const events = this.#events.get(channel)
    if (events === undefined) this.#events.set(channel, [event])
    else events.push(event)
  }

  /** Returns the entries, each in cursor order. One channel's events come from rows of several kinds. */
  inOrder(): LogEntry[] {
    return Array.from(this.#events, ([channel, events]) => ({
      channel,
      slot: this.#slot,
      events: events.sort((a, b) => a.cursor - b.cursor)
    }))
  }
}
