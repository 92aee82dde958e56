import { z } from 'zod'
import { cursorAt, EVENT_POSITIONS, splitCursor } from '../market/cursor.ts'
import type { LogPart } from '../market/log.ts'

/**
 * Slots whose blocks took the place of others that were told before. Their events are told at cursors above everything
 * that was told, after the retractions of the lost ones; their own cursors are those of the rows.
 */
export interface Move {
  /** The first slot and the last, included, in which nothing is told at its own cursor. */
  readonly first: number
  readonly last: number
  /** Each slot with a block, ascending, and the cursor at which its first position is told. */
  readonly slots: readonly (readonly [slot: number, toldFrom: number])[]
}

const MOVE = z.object({
  first: z.int().nonnegative(),
  last: z.int().nonnegative(),
  slots: z.array(z.tuple([z.int().nonnegative(), z.int().nonnegative()]).readonly()).readonly()
})

/** The part of the log that keeps a move, at the slot of the first block that is told at its own cursors again. */
export function moveAsPart(move: Move): LogPart {
  const slot = move.last + 1
  const body = Buffer.from(JSON.stringify(move))
  return { channel: 'moves', slot, events: [{ cursor: cursorAt(slot, 0), body }] }
}

/** Throws where a part holds something else, which only a defect of ours can write. */
export function movesIn(parts: readonly LogPart[]): Move[] {
  return parts.flatMap(({ events }) =>
    events.map(({ body }) => MOVE.parse(JSON.parse(Buffer.from(body).toString())))
  )
}

/** A stretch of what is told: events with consecutive own cursors, told one after the other. */
export interface TellingStretch {
  /** Only events with an own cursor above this one. */
  readonly after: number
  /** Only events whose own cursor is at most this one. */
  readonly until: number
  /** The cursor up to which all is told with the stretch. */
  readonly end: number
  /** The cursor at which an event of the stretch is told. */
  readonly toldAt: (cursor: number) => number
}

/** A run of own cursors, and from which cursor on it is told. */
interface Segment {
  readonly start: number
  readonly first: number
  readonly last: number
  /** Null where each event is told at its own cursor. */
  readonly slots: Move['slots'] | null
}

/**
 * The order in which events are told: by their own cursors, but those of slots that were folded again after a fork at the
 * cursors that the moves say. A later move takes over the slots that it shares with earlier ones.
 */
export class DeliveryOrder {
  readonly #segments: readonly Segment[]
  readonly #toldFrom = new Map<number, number>()

  /** Moves by their last slot, ascending. */
  constructor(moves: readonly Move[]) {
    const segments: Segment[] = []
    let least = Infinity
    let open = Number.MAX_SAFE_INTEGER
    for (const { first, last, slots } of moves.toReversed()) {
      const own = slots.filter(([slot]) => slot < least)
      for (const [slot, from] of own) this.#toldFrom.set(slot, from)
      if (last < least) {
        segments.push({ start: cursorAt(last + 1, 0), first: cursorAt(last + 1, 0), last: open, slots: null })
        open = cursorAt(first, 0) - 1
      } else open = Math.min(open, cursorAt(first, 0) - 1)
      least = Math.min(least, first)
      if (own.length > 0)
        segments.push({
          start: own[0]![1],
          first: cursorAt(own[0]![0], 0),
          last: cursorAt(own.at(-1)![0], EVENT_POSITIONS) - 1,
          slots: own
        })
    }
    segments.push({ start: 0, first: 0, last: open, slots: null })
    this.#segments = segments.sort((a, b) => a.start - b.start)
  }

  /** The cursor at which an event is told whose row has this one. */
  toldAt(cursor: number): number {
    const { slot, position } = splitCursor(cursor)
    const from = this.#toldFrom.get(slot)
    return from === undefined ? cursor : from + position
  }

  /** The next stretch after a cursor, up to another one that ends a slot. */
  stretchAfter(after: number, until: number): TellingStretch {
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
        toldAt: (cursor) => cursor
      }
    const place = slots.findLast(([, from]) => from <= after)
    const ownAfter =
      place === undefined ? first - 1 : cursorAt(place[0], Math.min(after - place[1], EVENT_POSITIONS - 1))
    return { after: ownAfter, until: last, end, toldAt: (cursor) => this.toldAt(cursor) }
  }
}
