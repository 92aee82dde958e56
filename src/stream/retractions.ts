import { encodeBase58 } from '../chain/base58.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import type { CashList } from '../market/cash.ts'
import { cursorAt, EVENT_POSITIONS, POSITIONS_PER_SLOT } from '../market/cursor.ts'
import type { EncodedEvent, LogChannel, LogPart } from '../market/log.ts'
import type { RetractionData } from '../bodies/stream-schema.ts'
import { BlockEvents } from './block-events.ts'
import { ChannelTable } from './channel-table.ts'
import type { Channel } from './channel.ts'
import { encode, LogParts, type EventRows } from './encode.ts'

/** An event has so many positions at most, the first of them that of its row. */
const COPIES_MAX = 4

/** What the log says of a fork that is lost, and for how many copies of its events there was no position. */
export interface Retractions {
  readonly parts: readonly LogPart[]
  readonly leftOut: number
}

/**
 * Takes back what was told of the blocks of a lost fork, which come oldest first: a retraction for each copy of an event on
 * a channel, the newest first, at the end of a slot (EVENT_POSITIONS). Where they have no room the oldest go without.
 */
export function retractionsOf(
  lost: readonly EventRows[],
  slot: number,
  cash: CashList,
  room = POSITIONS_PER_SLOT - EVENT_POSITIONS
): Retractions {
  const parts = new LogParts(slot)
  const copies = lost.toReversed().flatMap((block) => copiesIn(block, cash))
  for (const [place, copy] of copies.slice(0, room).entries()) {
    const { kind, name } = copy.channel
    const isOfRows = kind === 'trades' || kind === 'price' || kind === 'pool'
    const logChannel = isOfRows ? 'retractions' : (name as LogChannel)
    const body = encode(copy.data, isOfRows ? prefixOf(name) : '')
    parts.add(logChannel, { cursor: cursorAt(slot, EVENT_POSITIONS + place), body })
  }
  return { parts: parts.inOrder(), leftOut: Math.max(0, copies.length - room) }
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
