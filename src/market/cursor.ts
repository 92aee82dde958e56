import { samePubkey } from '../chain/pubkey.ts'
import type { ChainEvent } from '../chain/events.ts'
import type { TradeRow } from './rows.ts'

/**
 * The cursor of rows, stream and webhooks: slot × 2^20 + position in the slot. It is computed from the block alone,
 * so every replica, restart and backfill gives an event the same cursor (INVARIANTS 3).
 *
 * C1. Every copy of an event on a channel has its own position, whether or not that copy is sent. Within a slot,
 *     positions follow the order of the events. The copies on `wallet:` come after all of them, also in the order of
 *     the events.
 * C2. The REST row has the position of its `trades:` copy; other rows have their first.
 */
export const POSITIONS_PER_SLOT = 2 ** 20

/**
 * Number of positions for events, the lower half of a slot's. The upper half is for retractions. The events of a lost
 * fork are retracted at the end of the slot before the next block: after all sent events and before the next ones.
 */
export const EVENT_POSITIONS = 2 ** 19

/**
 * Number of positions at the end of the event positions, reserved for changes of a tenant's own submissions. Each
 * tenant counts separately. They come after the slot's events, and before the retractions that the next block brings.
 * They are a quarter of the positions for events.
 */
export const TENANT_POSITIONS = 2 ** 17
/** Number of positions of a slot for chain events. */
export const CHAIN_POSITIONS = EVENT_POSITIONS - TENANT_POSITIONS
/**
 * Number of positions at the start of a slot for events with the copies of COPY_OFFSETS. The copies of trades on
 * `wallet:` channels come after these. 65,536 trades have room, about thirteen times the largest block so far.
 */
export const SIDE_BY_SIDE_POSITIONS = 2 ** 18

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

/** Number of adjacent positions of a trade. */
export const TRADE_POSITIONS = 4
const COPIES = { trade: TRADE_POSITIONS, liquidity: 2, launch: 2, curve: 3, pool: 3 } as const

/**
 * Returns the first cursor of each event, in order. The first event that does not fit into SIDE_BY_SIDE_POSITIONS and
 * all after it get none, so the list may be shorter than the events.
 */
export function placeEvents(
  slot: number,
  events: readonly { readonly kind: ChainEvent['kind'] }[]
): number[] {
  const cursors: number[] = []
  let position = 0
  for (const event of events) {
    const next = position + COPIES[event.kind]
    if (next > SIDE_BY_SIDE_POSITIONS) break
    cursors.push(cursorAt(slot, position))
    position = next
  }
  return cursors
}

/** Returns the number of SIDE_BY_SIDE_POSITIONS that a block's events take. */
export function positionsOf(events: readonly { readonly kind: ChainEvent['kind'] }[]): number {
  const all = events.reduce((sum, { kind }) => sum + COPIES[kind], 0)
  return Math.min(all, SIDE_BY_SIDE_POSITIONS)
}

/**
 * Returns the cursor of a trade's copy on `wallet:`, from the trade's first cursor. Trades start at least four
 * positions apart. So at most one starts in each group of four, and each group has one position for its copy. Trades
 * stored before these channels existed have such a cursor too.
 */
export function walletCursor(first: number): number {
  const { slot, position } = splitCursor(first)
  return cursorAt(slot, SIDE_BY_SIDE_POSITIONS + Math.floor(position / TRADE_POSITIONS))
}

/** Returns the number of positions for copies on `wallet:`, from the one of `positionsOf`. */
export const walletPositions = (sideBySide: number): number => Math.floor(sideBySide / TRADE_POSITIONS)

/** Returns a cursor below all trades whose copies on `wallet:` come after the given cursor. */
export function beforeWalletCopies(after: number): number {
  const { slot, position } = splitCursor(after)
  const passed = Math.max(0, position - SIDE_BY_SIDE_POSITIONS + 1) * TRADE_POSITIONS
  return cursorAt(slot, Math.min(passed, POSITIONS_PER_SLOT)) - 1
}

/**
 * Returns a safe integer for every slot up to SLOT_MAX (`src/chain/chain-numbers.ts`), to which sources are limited.
 */
export function cursorAt(slot: number, position: number): number {
  return slot * POSITIONS_PER_SLOT + position
}

/** Returns the last cursor that an event of a slot can have. */
export const endOfEvents = (slot: number): number => cursorAt(slot, EVENT_POSITIONS) - 1

/** Returns the last cursor that the copy of a chain event of a slot can have. */
export const endOfChainEvents = (slot: number): number => cursorAt(slot, CHAIN_POSITIONS) - 1

/** Returns the lowest cursor above `last` that a tenant's own event can have in a slot, or after it. */
export function tenantCursorAfter(last: number, slot: number): number {
  const first = Math.max(last + 1, cursorAt(slot, CHAIN_POSITIONS))
  const { slot: own, position } = splitCursor(first)
  if (position < CHAIN_POSITIONS) return cursorAt(own, CHAIN_POSITIONS)
  return position < EVENT_POSITIONS ? first : cursorAt(own + 1, CHAIN_POSITIONS)
}

/**
 * Returns the cursor of a head that clients see, which ends a slot. Changes of submissions that may still follow the
 * slot's events are after it.
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

/** Parses a client's cursor, an integer or its decimal text; null if it is neither. */
export function readCursor(value: unknown): number | null {
  const cursor = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  return typeof cursor === 'number' && Number.isSafeInteger(cursor) && cursor >= 0 ? cursor : null
}
