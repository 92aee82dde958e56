import type { Pubkey } from '../../src/chain/pubkey.ts'
import { cursorAt, splitCursor } from '../../src/market/cursor.ts'
import type { LogChannel, LogEntry } from '../../src/market/log.ts'
import type { PoolEventRow, RowOrigin, SlotRow, TradeRow } from '../../src/market/rows.ts'
import { logChannelCodes } from '../codec/codes.ts'
import { KeyTable } from '../codec/key-table.ts'
import { addressIn, cursorOfPageKey, logKey, pageKey, slotKey } from '../codec/keys.ts'
import type { PageList } from '../codec/keys.ts'
import { slotKind } from '../codec/kinds.ts'
import { logEntryKind } from '../codec/log-entry.ts'
import { poolEventCodec } from '../codec/pool-event.ts'
import type { RecordKind } from '../codec/record.ts'
import type { RowCodec } from '../codec/row-origin.ts'
import { compactTradeCodec, tradeCodec } from '../codec/trade.ts'
import type { RowListLayout } from './row-list.ts'

/**
 * Lengths of buckets, from the arithmetic in src/docs/decisions/0008-scylla.md: 27 minutes of a mint, 55 of a wallet, 1.8
 * hours of a pool, 7 minutes of a channel.
 */
const MINT_SLOTS = 4_096
const POOL_SLOTS = 16_384
const WALLET_SLOTS = 8_192
/** A reference takes a third of a trade: 1.8 hours. */
const REFERENCE_SLOTS = 16_384
const SLOT_SLOTS = 65_536
const LOG_SLOTS = 1_024

/** Rows are packed like those of the embedded store's pages; the owner's address is in the key and not in the bytes. */
function rowKind<Row, Before>(
  name: string,
  codec: RowCodec<Row, Before>,
  ownerOf: (row: Row) => Pubkey
): RecordKind<Row> {
  return {
    name,
    write: (out, row) => codec.write(out, row, null, new KeyTable([ownerOf(row)])),
    read: (source, key) => codec.read(source, null, new KeyTable([addressIn(key)])),
    weigh: () => 1_000
  }
}

function rowLayout<Row extends RowOrigin>(
  table: string,
  list: PageList,
  slotsPerBucket: number,
  kind: RecordKind<Row>
): RowListLayout<Row> {
  return {
    table,
    slotsPerBucket,
    expires: 'retentionSeconds',
    kind,
    cursorOf: ({ cursor }) => cursor,
    storeKey: (owner, cursor) => pageKey(list, owner, cursor)
  }
}

export const tradesByMint: RowListLayout<TradeRow> = rowLayout(
  'trades_by_mint',
  't',
  MINT_SLOTS,
  rowKind('trade', tradeCodec, (row) => row.mint)
)

export const tradesByWallet: RowListLayout<TradeRow> = rowLayout(
  'trades_by_wallet',
  'w',
  WALLET_SLOTS,
  rowKind('wallet trade', tradeCodec, (row) => row.user)
)

/** Trades by mint as archives write them: each layout reads the rows of both. */
export const compactTradesByMint: RowListLayout<TradeRow> = {
  ...tradesByMint,
  kind: rowKind('trade', compactTradeCodec, (row) => row.mint)
}

/** A trade of a wallet in the list of the trade's mint. */
export type WalletTrade = Pick<TradeRow, 'cursor' | 'mint' | 'user'>

/** The mint of each trade of a wallet; its cursor is in the key. */
export const referencesByWallet: RowListLayout<WalletTrade> = {
  table: 'references_by_wallet',
  slotsPerBucket: REFERENCE_SLOTS,
  expires: null,
  kind: {
    name: 'wallet reference',
    write: (out, { mint }) => out.fixed(mint, 32),
    read: (source, key) => ({ cursor: cursorOfPageKey(key), mint: source.fixed(32), user: addressIn(key) }),
    weigh: () => 200
  },
  cursorOf: ({ cursor }) => cursor,
  storeKey: (owner, cursor) => pageKey('T', owner, cursor)
}

export const eventsByPool: RowListLayout<PoolEventRow> = rowLayout(
  'events_by_pool',
  'e',
  POOL_SLOTS,
  rowKind('pool event', poolEventCodec, (row) => row.pool)
)

/** Owner of the list of all committed slots. */
export const SLOTS_OWNER: Uint8Array = Uint8Array.of(0)

/** All committed slots: they stay, and record the coverage. */
export const slots: RowListLayout<SlotRow> = {
  table: 'slots',
  slotsPerBucket: SLOT_SLOTS,
  expires: null,
  kind: slotKind,
  cursorOf: ({ slot }) => cursorAt(slot, 0),
  storeKey: (_, cursor) => slotKey(cursor / cursorAt(1, 0))
}

/** Owner of the list of a channel's entries. */
export const logOwner = (channel: LogChannel): Uint8Array => Uint8Array.of(logChannelCodes.codeOf(channel))

/** The log of the stream, by channel: a row for each slot that has an event there. */
export const log: RowListLayout<LogEntry> = {
  table: 'log',
  slotsPerBucket: LOG_SLOTS,
  expires: 'logTtlSeconds',
  isAboveHead: true,
  kind: logEntryKind,
  cursorOf: ({ slot }) => cursorAt(slot, 0),
  storeKey: ([code], cursor) => logKey(logChannelCodes.wordOf(code!), splitCursor(cursor).slot)
}

const withIndexes = (...lists: readonly { readonly table: string }[]): string[] =>
  lists.flatMap(({ table }) => [table, `${table}_buckets`])

/** Tables whose rows expire with the retention, with their indexes. */
export const EXPIRING_TABLES: readonly string[] = withIndexes(tradesByMint, tradesByWallet, eventsByPool)
/** Tables whose rows expire once they are past the horizon of the stream. */
export const LOG_TABLES: readonly string[] = withIndexes(log)
