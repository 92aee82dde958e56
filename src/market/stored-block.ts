import { tradeFacts, type Launch, type Trade } from '../chain/events.ts'
import type { BlockEntry, DecodedBlock } from './block.ts'
import { eventCursor } from './cursor.ts'
import type { LaunchRow, PoolEventRow, RowOrigin, SlotRow, TradeRow } from './rows.ts'

/** The rows of one slot in a store; some may be lost. */
export interface StoredBlock {
  readonly slot: number
  /** Null if it is lost, or never existed. */
  readonly row: SlotRow | null
  /** In cursor order. A trade without a cash side has two rows, or the one that remains. */
  readonly trades: readonly TradeRow[]
  readonly poolEvents: readonly PoolEventRow[]
  /** First launches of their mints, with their newest status. */
  readonly launches: readonly LaunchRow[]
}

/** Returns whether the rows determine all events of a block. A second launch of a mint has no row. */
export function isWhole(stored: StoredBlock): boolean {
  return stored.row !== null && entriesOf(stored).length === stored.row.events
}

/** Returns the block that the rows determine, its events at their cursors; null if no row of it is stored. */
export function blockOfRows(stored: StoredBlock): DecodedBlock | null {
  const { slot, row, trades, poolEvents, launches } = stored
  const origin: RowOrigin | undefined = trades[0] ?? poolEvents[0] ?? launches[0]
  const blockTime = row?.blockTime ?? origin?.blockTime
  if (blockTime === undefined) return null
  return {
    slot,
    blockTime,
    parentSlot: row?.parentSlot ?? null,
    blockhash: row?.blockhash ?? null,
    receivedAtMs: row?.receivedAtMs ?? launches[0]?.ingestedAtMs ?? blockTime * 1_000,
    // If all rows are lost, the commitment is unknown.
    commitment: origin?.commitment ?? 'confirmed',
    transactions: row?.transactions ?? 0,
    entries: entriesOf(stored)
  }
}

function entriesOf({ trades, poolEvents, launches }: StoredBlock): BlockEntry[] {
  const made = new Map(trades.map((row) => [eventCursor(row), row]))
  return [
    ...Array.from(made, ([cursor, row]) => entry(row, cursor, tradeOf(row))),
    ...poolEvents.map((row) => entry(row, row.cursor, row.body)),
    ...launches.map((row) => entry(row, row.cursor, launchOf(row)))
  ].sort((a, b) => a.cursor - b.cursor)
}

function entry(
  { signature, txIndex, feePayer }: RowOrigin,
  cursor: number,
  event: BlockEntry['event']
): BlockEntry & { readonly cursor: number } {
  return { signature, txIndex, feePayer, event, cursor }
}

function placeOf({ venue, program, pool, ixIndex, innerIxIndex, user }: RowOrigin) {
  return { venue, program, pool, ixIndex, innerIxIndex, user }
}

function tradeOf(row: TradeRow): Trade {
  const { vaults } = row
  return { kind: 'trade', ...placeOf(row), ...tradeFacts(row), ...(vaults !== undefined && { vaults }) }
}

function launchOf(row: LaunchRow): Launch {
  const { mint: baseMint, quoteMint, name, symbol, uri, creator, decimals, supply, curve } = row
  const facts = { baseMint, quoteMint, name, symbol, uri, creator, decimals, supply, curve }
  return { kind: 'launch', event: 'create', ...placeOf(row), ...facts }
}
