import { z } from 'zod'
import {
  cursorAt,
  EVENT_POSITIONS,
  SIDE_BY_SIDE_POSITIONS,
  splitCursor,
  TRADE_POSITIONS
} from '../market/cursor.ts'
import type { LogEntry } from '../market/log.ts'

/**
 * Slots whose blocks replaced blocks already sent. Their events are sent at cursors above everything sent before,
 * after the retractions of the lost blocks. Their own cursors, those of the rows, do not change.
 */
export interface Move {
  /** First and last slot, both inclusive, whose events are not sent at their own cursors. */
  readonly first: number
  readonly last: number
  /** Each slot with a block, ascending, and the cursor at which its first position is sent. */
  readonly slots: readonly (readonly [slot: number, sentFrom: number])[]
  /**
   * For each of these slots, the cursor of its first position for `wallet:`. Absent in moves stored before `wallet:`
   * channels existed.
   */
  readonly walletsFrom?: readonly number[] | undefined
}

const MOVE = z.object({
  first: z.int().nonnegative(),
  last: z.int().nonnegative(),
  slots: z.array(z.tuple([z.int().nonnegative(), z.int().nonnegative()]).readonly()).readonly(),
  walletsFrom: z.array(z.int().nonnegative()).readonly().optional()
})

/** Returns the log entry that stores a move, at the slot of the first later block that is sent at its own cursors. */
export function moveAsLogEntry(move: Move): LogEntry {
  const slot = move.last + 1
  const body = Buffer.from(JSON.stringify(move))
  return { channel: 'moves', slot, events: [{ cursor: cursorAt(slot, 0), body }] }
}

/** Reads moves from log entries. Throws on any other content, which only a bug can write. */
export function movesIn(entries: readonly LogEntry[]): Move[] {
  return entries.flatMap(({ events }) =>
    events.map(({ body }) => MOVE.parse(JSON.parse(Buffer.from(body).toString())))
  )
}

/** A section of the delivery order: a range of own cursors whose events are sent consecutively. */
export interface DeliverySection {
  /** Lower bound (excluded) of own cursors. */
  readonly after: number
  /** Upper bound (included) of own cursors. */
  readonly until: number
  /** The cursor up to which everything has been sent after this section. */
  readonly end: number
  /** Returns the cursor at which an event of the section is sent. */
  readonly sentCursor: (cursor: number) => number
}

interface MovedSlot {
  readonly slot: number
  readonly sentFrom: number
  readonly walletsFrom: number | undefined
}

/** A range of own cursors, with the cursor from which it is sent. */
interface Segment {
  readonly start: number
  readonly first: number
  readonly last: number
  /** Null if each event is sent at its own cursor. */
  readonly slots: readonly MovedSlot[] | null
}

/**
 * The order in which events are sent: by their own cursors, except that the slots of a move are sent at the move's
 * cursors. A later move replaces earlier ones for their common slots.
 */
export class DeliveryOrder {
  readonly #segments: readonly Segment[]
  readonly #moved = new Map<number, MovedSlot>()

  /** `moves` ascend by their last slot. */
  constructor(moves: readonly Move[]) {
    const segments: Segment[] = []
    let least = Infinity
    let open = Number.MAX_SAFE_INTEGER
    for (const { first, last, slots, walletsFrom } of moves.toReversed()) {
      const moved = slots.map(([slot, sentFrom], i) => ({ slot, sentFrom, walletsFrom: walletsFrom?.[i] }))
      const own = moved.filter(({ slot }) => slot < least)
      for (const each of own) this.#moved.set(each.slot, each)
      if (last < least) {
        segments.push({ start: cursorAt(last + 1, 0), first: cursorAt(last + 1, 0), last: open, slots: null })
        open = cursorAt(first, 0) - 1
      } else open = Math.min(open, cursorAt(first, 0) - 1)
      least = Math.min(least, first)
      if (own.length > 0)
        segments.push({
          start: own[0]!.sentFrom,
          first: cursorAt(own[0]!.slot, 0),
          last: cursorAt(own.at(-1)!.slot, EVENT_POSITIONS) - 1,
          slots: own
        })
    }
    segments.push({ start: 0, first: 0, last: open, slots: null })
    this.#segments = segments.sort((a, b) => a.start - b.start)
  }

  /** Returns the cursor at which the event of a row's cursor is sent. */
  sentCursor(cursor: number): number {
    const { slot, position } = splitCursor(cursor)
    const moved = this.#moved.get(slot)
    return moved === undefined ? cursor : sentIn(moved, position)
  }

  /** Returns the next section of a kind of channels after a cursor, up to `until`, which ends a slot. */
  sectionAfter(after: number, until: number, isOfWallet: boolean): DeliverySection {
    const at = Math.max(
      0,
      this.#segments.findLastIndex(({ start }) => start <= after + 1)
    )
    const { first, last, slots } = this.#segments[at]!
    const end = Math.min(until, (this.#segments[at + 1]?.start ?? Infinity) - 1)
    if (slots === null)
      return {
        after: Math.max(after, first - 1),
        until: Math.min(end, last),
        end,
        sentCursor: (cursor) => cursor
      }
    const place = slots.findLast(({ sentFrom }) => sentFrom <= after)
    const ownAfter = place === undefined ? first - 1 : ownIn(place, after, isOfWallet)
    return { after: ownAfter, until: last, end, sentCursor: (cursor) => this.sentCursor(cursor) }
  }
}

/** Returns the cursor at which a position of a moved slot is sent. */
function sentIn({ sentFrom, walletsFrom }: MovedSlot, position: number): number {
  const nth = position - SIDE_BY_SIDE_POSITIONS
  if (nth < 0) return sentFrom + position
  // In moves without positions for `wallet:`, a copy there has the last of four positions, which belongs to its
  // trade.
  return walletsFrom === undefined ? sentFrom + TRADE_POSITIONS * (nth + 1) - 1 : walletsFrom + nth
}

/** Returns the last own cursor of a moved slot whose event is sent at or before a cursor. */
function ownIn({ slot, sentFrom, walletsFrom }: MovedSlot, sent: number, isOfWallet: boolean): number {
  const offset = sent - sentFrom
  const shared = isOfWallet ? Math.floor((offset + 1) / TRADE_POSITIONS) - 1 : -1
  const nth = walletsFrom === undefined ? shared : sent - walletsFrom
  const position = nth < 0 ? Math.min(offset, SIDE_BY_SIDE_POSITIONS - 1) : SIDE_BY_SIDE_POSITIONS + nth
  return cursorAt(slot, Math.min(position, EVENT_POSITIONS - 1))
}
