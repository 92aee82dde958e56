import { UNSTATED, UNSTATED_ADDRESS, type Trade } from '../../chain/events.ts'
import { pubkeyFromBase58, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { VENUES } from '../../chain/venues.ts'
import type { BlockEntry, DecodedBlock } from '../../market/block.ts'
import { splitCursor, TRADE_POSITIONS } from '../../market/cursor.ts'
import type { Commitment } from '../../market/rows.ts'
import type { TradeFact } from '../rows/trade-fact.ts'
import type { ArchivedRow } from './archived-row.ts'

/** A trade whose mints have known decimals. */
export interface CompleteRow extends ArchivedRow {
  readonly inDecimals: number
  readonly outDecimals: number
}

/** Returns the block that the trades of a slot make. The result does not depend on their order. */
export function blockOfTrades(slot: number, blockTime: number, rows: readonly CompleteRow[]): DecodedBlock {
  const entries = withCursors(slot, inOrder(rows))
  const transactions = new Set(rows.map(({ fact }) => textOf(fact.signature)))
  return {
    slot,
    blockTime,
    parentSlot: null,
    blockhash: null,
    receivedAtMs: blockTime * 1_000,
    commitment: commitmentOf(rows),
    transactions: transactions.size,
    entries
  }
}

/** Returns the commitment that all rows state; blocks of files are final otherwise. */
function commitmentOf(rows: readonly CompleteRow[]): Commitment {
  const [first] = rows
  const stated = first?.fact.details?.commitment
  return stated !== undefined && rows.every(({ fact }) => fact.details?.commitment === stated)
    ? stated
    : 'finalized'
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/**
 * Sorts trades by their place in the slot. Transactions without an index come last, by their first line. Trades of a
 * transaction without an instruction come after those with one, by their lines.
 */
function inOrder(rows: readonly CompleteRow[]): CompleteRow[] {
  const firstLine = new Map<string, number>()
  const keyed = rows.map((row) => ({ row, text: textOf(row.fact.signature) }))
  for (const { row, text } of keyed) firstLine.set(text, Math.min(firstLine.get(text) ?? Infinity, row.line))
  return keyed
    .sort((a, b) => {
      const [one, two] = [a.row.fact.place, b.row.fact.place]
      return (
        ascending(one.txIndex ?? Infinity, two.txIndex ?? Infinity) ||
        (one.txIndex === null ? ascending(firstLine.get(a.text)!, firstLine.get(b.text)!) : 0) ||
        (a.text < b.text ? -1 : a.text > b.text ? 1 : 0) ||
        ascending(one.ixIndex ?? Infinity, two.ixIndex ?? Infinity) ||
        ascending(one.innerIxIndex ?? -1, two.innerIxIndex ?? -1) ||
        ascending(a.row.line, b.row.line) ||
        ascending(a.row.fact.in.amountRaw, b.row.fact.in.amountRaw) ||
        ascending(a.row.fact.out.amountRaw, b.row.fact.out.amountRaw)
      )
    })
    .map(({ row }) => row)
}

const ascending = <Value extends number | bigint>(a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : 0)

/** Gives entries the cursors that their rows state, if each row of the slot states one of its own. */
function withCursors(slot: number, rows: readonly CompleteRow[]): BlockEntry[] {
  const entries = rows.map(entryOf)
  const cursors = rows.map(({ fact }) => fact.details?.cursor ?? null)
  const isStated = cursors.every(
    (cursor, at) =>
      cursor !== null &&
      splitCursor(cursor).slot === slot &&
      (at === 0 || cursor >= cursors[at - 1]! + TRADE_POSITIONS)
  )
  return isStated ? entries.map((entry, at) => ({ ...entry, cursor: cursors[at]! })) : entries
}

function entryOf(row: CompleteRow): BlockEntry {
  const { signature, place, details } = row.fact
  return {
    signature,
    txIndex: place.txIndex ?? 0,
    feePayer: details?.feePayer ?? UNSTATED_ADDRESS,
    event: tradeOf(row)
  }
}

function tradeOf({ fact, inDecimals, outDecimals }: CompleteRow): Trade {
  const { in: paid, out: received, place, details, solUsd } = fact
  const unstated = unstatedOf(fact)
  return {
    kind: 'trade',
    venue: fact.venue,
    program: fact.program ?? programOf(fact.venue),
    pool: fact.pool ?? UNSTATED_ADDRESS,
    ixIndex: place.ixIndex ?? 0,
    innerIxIndex: place.innerIxIndex,
    user: fact.trader ?? UNSTATED_ADDRESS,
    inMint: paid.mint,
    outMint: received.mint,
    inDecimals,
    outDecimals,
    inAmount: paid.amountRaw,
    outAmount: received.amountRaw,
    traderIn: details?.traderIn ?? paid.amountRaw,
    traderOut: details?.traderOut ?? received.amountRaw,
    fees: details?.fees ?? [],
    reserves: details?.reserves ?? null,
    exact: details?.exact ?? null,
    route: details?.route ?? null,
    ...(unstated > 0 && { unstated }),
    ...(solUsd !== null && { solUsd })
  }
}

function unstatedOf({ slot, pool, trader, place, details }: TradeFact): number {
  return (
    (slot === null ? UNSTATED.slot : 0) |
    (place.txIndex === null ? UNSTATED.txIndex : 0) |
    (place.ixIndex === null ? UNSTATED.ixIndex : 0) |
    (isAbsent(pool) ? UNSTATED.pool : 0) |
    (isAbsent(trader) ? UNSTATED.user : 0) |
    (isAbsent(details?.feePayer ?? null) ? UNSTATED.feePayer : 0)
  )
}

const isAbsent = (key: Pubkey | null): boolean => key === null || samePubkey(key, UNSTATED_ADDRESS)

/** Returns the program of a venue; of several the first, which all recorded trades of these venues have. */
const programOf = (venue: VenueId): Pubkey => PROGRAMS.get(venue)!

const PROGRAMS = new Map(VENUES.map(({ id, programs }) => [id, pubkeyFromBase58(programs[0]!)]))
