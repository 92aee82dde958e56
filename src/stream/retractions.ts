import { encodeBase58 } from '../chain/base58.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import type { CashList } from '../market/cash.ts'
import { cursorAt, EVENT_POSITIONS, splitCursor, walletCursor } from '../market/cursor.ts'
import type { EncodedEvent, LogEntry } from '../market/log.ts'
import type { RetractionData } from './bodies/stream-schema.ts'
import { BlockEvents } from './block-events.ts'
import { ChannelTable } from './channel-table.ts'
import type { Channel } from './channel.ts'
import { encode, isFirstRow, LogEntries, type EventRows } from './encode.ts'

/** Maximum adjacent positions of an event; the first is that of its row. */
const COPIES_MAX = 4

/** The log's retractions of a lost fork, with the number of event copies retracted, and of copies that did not fit. */
export interface Retractions {
  readonly entries: readonly LogEntry[]
  readonly retracted: number
  readonly leftOut: number
}

/**
 * A range of cursors for retractions, both inclusive. The range is unused, and the next block's cursors are above it.
 */
export interface RetractionRoom {
  readonly from: number
  readonly to: number
  /** Returns the cursor at which an event of the lost blocks was sent. */
  readonly sentCursor?: (cursor: number) => number
}

/** Returns the upper half of a slot's positions. */
export const endOfSlot = (slot: number): RetractionRoom => ({
  from: cursorAt(slot, EVENT_POSITIONS),
  to: cursorAt(slot + 1, 0) - 1
})

/**
 * Builds the retractions of a lost fork (blocks oldest first). Each copy of an event on a channel gets one
 * retraction, newest first, at consecutive cursors. If there is not enough room, the oldest copies are not retracted.
 */
export function retractionsOf(lost: readonly EventRows[], room: RetractionRoom, cash: CashList): Retractions {
  const { from, to, sentCursor = (cursor) => cursor } = room
  const parts = new Map<number, LogEntries>()
  const copies = lost.toReversed().flatMap((block) => copiesIn(block, cash))
  const retracted = copies.slice(0, Math.max(0, to - from + 1))
  for (const [place, { channel, data }] of retracted.entries()) {
    const cursor = from + place
    const { slot } = splitCursor(cursor)
    let ofSlot = parts.get(slot)
    if (ofSlot === undefined) parts.set(slot, (ofSlot = new LogEntries(slot)))
    const body = encode({ ...data, of: sentCursor(data.of) }, prefixOf(channel.name))
    ofSlot.add('retractions', { cursor, body })
  }
  const all = [...parts.values()].flatMap((each) => each.inOrder())
  return { entries: all, retracted: retracted.length, leftOut: copies.length - retracted.length }
}

/** Selects the retractions of one channel from the log's `retractions`. */
export function retractionsOn({ name }: Channel, events: readonly EncodedEvent[]): EncodedEvent[] {
  const prefix = Buffer.from(prefixOf(name))
  return events
    .filter(({ body }) => prefix.equals(body.subarray(0, prefix.length)))
    .map(({ cursor, body }) => ({ cursor, body: body.subarray(prefix.length) }))
}

const prefixOf = (name: string): string => `${name}\n`

interface Copy {
  readonly channel: Channel
  readonly data: RetractionData
}

/** Returns the copies of a block's events, newest first. */
function copiesIn(rows: EventRows, cash: CashList): Copy[] {
  const { slot, receivedAtMs } = rows.slot
  const signatures = signaturesIn(rows)
  const byChannel = new BlockEvents(rows, cash).on(channelsOf(rows))
  const copies = Array.from(byChannel, ([channel, events]) =>
    events.map(({ cursor }): Copy => {
      const signature = encodeBase58(signatures.get(cursor)!)
      return { channel, data: { event: 'retract', of: cursor, signature, slot, ts_ms: receivedAtMs } }
    })
  )
  return copies.flat().sort((a, b) => b.data.of - a.data.of)
}

/** Returns every channel that may carry an event of a block. */
export function channelsOf({ trades, poolEvents, launches }: EventRows): ChannelTable<Channel> {
  const table = new ChannelTable<Channel>()
  const add = (channel: Channel): void => table.set(channel, channel)
  for (const { mint } of trades)
    for (const kind of ['trades', 'price'] as const)
      add({ kind, name: `${kind}:${pubkeyToBase58(mint)}`, of: mint })
  for (const { user } of trades) add({ kind: 'wallet', name: `wallet:${pubkeyToBase58(user)}`, of: user })
  for (const { pool } of [...trades, ...poolEvents])
    add({ kind: 'pool', name: `pool:${pubkeyToBase58(pool)}`, of: pool })
  for (const { venue } of [...trades, ...poolEvents, ...launches])
    add({ kind: 'venue', name: `venue:${venue}`, venue })
  for (const kind of ['launches', 'pools', 'curves'] as const) add({ kind, name: kind })
  return table
}

/** Returns signatures by the cursor of the copy. */
function signaturesIn({ trades, poolEvents, launches }: EventRows): Map<number, Uint8Array> {
  const signatures = new Map<number, Uint8Array>()
  for (const { cursor, signature } of [...trades, ...poolEvents, ...launches])
    for (let copy = 0; copy < COPIES_MAX; copy++)
      if (copy === 0 || !signatures.has(cursor + copy)) signatures.set(cursor + copy, signature)
  for (const row of trades) if (isFirstRow(row)) signatures.set(walletCursor(row.cursor), row.signature)
  return signatures
}
