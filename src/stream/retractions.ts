import { encodeBase58 } from '../chain/base58.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import type { CashList } from '../market/cash.ts'
import { cursorAt, EVENT_POSITIONS, splitCursor } from '../market/cursor.ts'
import type { EncodedEvent, LogPart } from '../market/log.ts'
import type { RetractionData } from '../api/stream-schema.ts'
import { BlockEvents } from './block-events.ts'
import { ChannelTable } from './channel-table.ts'
import type { Channel } from './channel.ts'
import { encode, LogParts, type EventRows } from './encode.ts'

/** An event has so many positions at most, the first of them that of its row. */
const COPIES_MAX = 4

/** Retractions of a lost fork for the log: of how many copies of its events, and for how many there was no room. */
export interface Retractions {
  readonly parts: readonly LogPart[]
  readonly told: number
  readonly leftOut: number
}

/** Cursors for retractions, both ends included: none of them was told, and the next block's are above. */
export interface RetractionRoom {
  readonly from: number
  readonly to: number
  /** The cursor at which an event of the lost blocks was told. */
  readonly toldAt?: (cursor: number) => number
}

/** The upper half of a slot's positions. */
export const endOfSlot = (slot: number): RetractionRoom => ({
  from: cursorAt(slot, EVENT_POSITIONS),
  to: cursorAt(slot + 1, 0) - 1
})

/**
 * Takes back what was told of the blocks of a lost fork, which come oldest first: a retraction for each copy of an event on
 * a channel, the newest first, one cursor after the other. Where they have no room the oldest go without.
 */
export function retractionsOf(lost: readonly EventRows[], room: RetractionRoom, cash: CashList): Retractions {
  const { from, to, toldAt = (cursor) => cursor } = room
  const parts = new Map<number, LogParts>()
  const copies = lost.toReversed().flatMap((block) => copiesIn(block, cash))
  const told = copies.slice(0, Math.max(0, to - from + 1))
  for (const [place, { channel, data }] of told.entries()) {
    const cursor = from + place
    const { slot } = splitCursor(cursor)
    let ofSlot = parts.get(slot)
    if (ofSlot === undefined) parts.set(slot, (ofSlot = new LogParts(slot)))
    const body = encode({ ...data, of: toldAt(data.of) }, prefixOf(channel.name))
    ofSlot.add('retractions', { cursor, body })
  }
  const all = [...parts.values()].flatMap((each) => each.inOrder())
  return { parts: all, told: told.length, leftOut: copies.length - told.length }
}

/** Of what the log has as `retractions` that which is told on a channel. */
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

/** The copies of a block's events, the newest first. */
function copiesIn(rows: EventRows, cash: CashList): Copy[] {
  const { slot, receivedAtMs } = rows.slot
  const signatures = signaturesIn(rows)
  const told = new BlockEvents(rows, cash).on(channelsOf(rows))
  const copies = Array.from(told, ([channel, events]) =>
    events.map(({ cursor }): Copy => {
      const signature = encodeBase58(signatures.get(cursor)!)
      return { channel, data: { event: 'retract', of: cursor, signature, slot, ts_ms: receivedAtMs } }
    })
  )
  return copies.flat().sort((a, b) => b.data.of - a.data.of)
}

/** Every channel that some event of a block may be on. */
export function channelsOf({ trades, poolEvents, launches }: EventRows): ChannelTable<Channel> {
  const table = new ChannelTable<Channel>()
  const add = (channel: Channel): void => table.set(channel, channel)
  for (const { mint } of trades)
    for (const kind of ['trades', 'price'] as const)
      add({ kind, name: `${kind}:${pubkeyToBase58(mint)}`, of: mint })
  for (const { pool } of [...trades, ...poolEvents])
    add({ kind: 'pool', name: `pool:${pubkeyToBase58(pool)}`, of: pool })
  for (const { venue } of [...trades, ...poolEvents, ...launches])
    add({ kind: 'venue', name: `venue:${venue}`, venue })
  for (const kind of ['launches', 'pools', 'curves'] as const) add({ kind, name: kind })
  return table
}

/** By the cursors of the copies. */
function signaturesIn({ trades, poolEvents, launches }: EventRows): Map<number, Uint8Array> {
  const signatures = new Map<number, Uint8Array>()
  for (const { cursor, signature } of [...trades, ...poolEvents, ...launches])
    for (let copy = 0; copy < COPIES_MAX; copy++)
      if (copy === 0 || !signatures.has(cursor + copy)) signatures.set(cursor + copy, signature)
  return signatures
}
