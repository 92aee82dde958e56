import { samePubkey } from '../chain/pubkey.ts'
import type { ChainEvent } from '../chain/events.ts'
import type { TradeRow } from './rows.ts'

/**
 * The cursor of rows, stream and webhooks: slot × 2^20 + position in the slot. It is computed from the block alone, so
 * every replica, restart and backfill gives the same event the same cursor (INVARIANTS 3).
 *
 * C1. Every copy of an event on a channel has a position of its own, whether or not that copy is sent.
 * C2. The REST row has the position of its `trades:` copy; other rows have their first.
 */
export const POSITIONS_PER_SLOT = 2 ** 20

/**
 * Number of positions for events, the lower half of a slot's. The upper half is for retractions: if a fork is lost, the
 * retractions of its events come at the end of the slot before the next block, after all sent events and before the
 * next.
 */
export const EVENT_POSITIONS = 2 ** 19

/**
 * Number of positions at the end of those for events that no chain event takes: changes of a tenant's own submissions have
 * them, each tenant counts for itself. They are after the slot's events, and before the retractions that the next block
 * brings. Chosen: 98,000 trades have room before them, some twenty times the most of a block so far.
 */
export const TENANT_POSITIONS = 2 ** 17
/** Number of positions of a slot for chain events. */
export const CHAIN_POSITIONS = EVENT_POSITIONS - TENANT_POSITIONS

/**
 * Distance of each channel's copy from the event's first cursor (C1). A trade without a cash side is on the `trades:`
 * channels of both mints, the paid mint first, and has no price copy.
 */
export const COPY_OFFSETS = {
  trade: { trades: 0, price: 1, pool: 2, venue: 3 },
  swap: { tradesIn: 0, tradesOut: 1, pool: 2, venue: 3 },
  liquidity: { pool: 0, venue: 1 },
  launch: { launches: 0, venue: 1 },
  curve: { pool: 0, venue: 1, curves: 2 },
  pool: { pool: 0, venue: 1, pools: 2 }
} as const

const COPIES = { trade: 4, liquidity: 2, launch: 2, curve: 3, pool: 3 } as const

/**
 * Returns the first cursor of each event, in order. The first event that does not fit before TENANT_POSITIONS and all
 * after it get none, so the list may be shorter than the events.
 */
export function placeEvents(
  slot: number,
  events: readonly { readonly kind: ChainEvent['kind'] }[]
): number[] {
  const cursors: number[] = []
  let position = 0
  for (const event of events) {
    const next = position + COPIES[event.kind]
    if (next > CHAIN_POSITIONS) break
    cursors.push(cursorAt(slot, position))
    position = next
  }
  return cursors
}

/** Returns the number of positions that a block's events take; at most those before TENANT_POSITIONS. */
export function positionsOf(events: readonly { readonly kind: ChainEvent['kind'] }[]): number {
  const all = events.reduce((sum, { kind }) => sum + COPIES[kind], 0)
  return Math.min(all, CHAIN_POSITIONS)
}

/**
 * Returns a safe integer for every slot up to SLOT_MAX (`src/chain/chain-numbers.ts`), to which sources are limited.
 */
export function cursorAt(slot: number, position: number): number {
  return slot * POSITIONS_PER_SLOT + position
}

/** Returns the last cursor that an event of a slot can have. */
export const endOfEvents = (slot: number): number => cursorAt(slot, EVENT_POSITIONS) - 1

/** Returns the last cursor that a chain event of a slot can have. */
export const endOfChainEvents = (slot: number): number => cursorAt(slot, CHAIN_POSITIONS) - 1

/** Returns the lowest cursor above another one that a tenant's own event can have in a slot, or after it. */
export function tenantCursorAfter(last: number, slot: number): number {
  const first = Math.max(last + 1, cursorAt(slot, CHAIN_POSITIONS))
  const { slot: own, position } = splitCursor(first)
  if (position < CHAIN_POSITIONS) return cursorAt(own, CHAIN_POSITIONS)
  return position < EVENT_POSITIONS ? first : cursorAt(own + 1, CHAIN_POSITIONS)
}

/**
 * Returns the cursor that clients are shown as that of a head, which ends a slot: changes of submissions that may still come
 * behind the slot's events are after it.
 */
export const shownHead = (head: number): number => Math.max(0, head - TENANT_POSITIONS)

export function splitCursor(cursor: number): { slot: number; position: number } {
  const position = cursor % POSITIONS_PER_SLOT
  return { slot: (cursor - position) / POSITIONS_PER_SLOT, position }
}

/** Returns the first cursor of a row's event, from which COPY_OFFSETS counts (C2). */
export function eventCursor(row: Pick<TradeRow, 'cursor' | 'cashSide' | 'mint' | 'inMint'>): number {
  const isSecondRow = row.cashSide === null && !samePubkey(row.mint, row.inMint)
  return isSecondRow ? row.cursor - COPY_OFFSETS.swap.tradesOut : row.cursor
}

/** Parses a client's cursor, an integer or its decimal text; null when it is neither. */
export function readCursor(value: unknown): number | null {
  const cursor = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  return typeof cursor === 'number' && Number.isSafeInteger(cursor) && cursor >= 0 ? cursor : null
}
