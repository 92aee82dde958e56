import { isUnstated } from '../../src/chain/events.ts'
import { eventCursor } from '../../src/market/cursor.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { poolEventCodec } from '../codec/pool-event.ts'
import { RowPages } from './row-pages.ts'
import type { RowRequest } from './row-page-reader.ts'
import { compactTradeCodec, tradeCodec, unusedBits } from '../codec/trade.ts'
import type { TradePageRequest } from '../port.ts'
import type { Database } from './database.ts'
import type { RecordTable } from './record-table.ts'

/**
 * Rows in a page. A block rewrites half a page of each list it touches, a query reads one value a page. At 32 a
 * page is about 4 KB and the newest 100 rows are four values (src/docs/decisions/0002-embedded-engine.md). The rows of
 * a wallet share few addresses, and a block touches more wallets than mints: theirs are smaller.
 */
const PAGE_ROWS = 32
const WALLET_PAGE_ROWS = 8

/** The lists of rows that are stored in pages. */
export const tradePages = new RowPages('t', 'trade page', tradeCodec, PAGE_ROWS)
/** The pages of `tradePages` as archives write them: they read each other's. */
export const compactTradePages = new RowPages('t', 'trade page', compactTradeCodec, PAGE_ROWS)
export const walletPages = new RowPages('w', 'wallet page', tradeCodec, WALLET_PAGE_ROWS)
export const poolEventPages = new RowPages('e', 'pool event page', poolEventCodec, PAGE_ROWS)

/** Returns a request for pages of trades. */
export const tradeRequest = ({ unused, ...page }: TradePageRequest): RowRequest =>
  unused === undefined ? page : { ...page, unusedBits: unusedBits(unused) }

/** Trades by mint, and by the wallet that made them. */
export function tradeTable(database: Database): RecordTable<'trades'> {
  return {
    port: {
      ofMint: (mint, page) => database.read((view) => tradePages.read(view, mint, tradeRequest(page))),
      ofWallet: (wallet, page) => database.read((view) => walletPages.read(view, wallet, tradeRequest(page)))
    },
    async stage(view, batch, block) {
      await tradePages.stage(view, batch, block.trades, (row) => row.mint)
      // As bytes: wallets are many more than mints and seldom read, and a page as bytes takes a tenth of the memory.
      await walletPages.append(view, batch, block.trades.filter(isMade), (row) => row.user)
    },
    async stageMany(view, batch, { trades }) {
      await tradePages.append(view, batch, trades, (row) => row.mint)
      await walletPages.append(view, batch, trades.filter(isMade), (row) => row.user)
    },
    async amend(view, batch, { trades }) {
      await tradePages.amend(view, batch, trades, (row) => row.mint)
      const made = { put: trades.put.filter(isMade), remove: trades.remove.filter(isMade) }
      await walletPages.amend(view, batch, made, (row) => row.user)
    }
  }
}

export function poolEventTable(database: Database): RecordTable<'poolEvents'> {
  return {
    port: { ofPool: (pool, page) => database.read((view) => poolEventPages.read(view, pool, page)) },
    async stage(view, batch, { poolEvents }) {
      await poolEventPages.stage(view, batch, poolEvents, (row) => row.pool)
    },
    stageMany: (view, batch, { poolEvents }) =>
      poolEventPages.append(view, batch, poolEvents, (row) => row.pool),
    amend: (view, batch, { poolEvents }) => poolEventPages.amend(view, batch, poolEvents, (row) => row.pool)
  }
}

/** A trade without a cash side has a row for each mint, and its trader made it once. Some imported trades have no trader. */
export const isMade = (row: TradeRow): boolean => eventCursor(row) === row.cursor && !isUnstated(row, 'user')
