import { eventCursor } from '../../src/market/cursor.ts'
import type { BlockCommit } from '../port.ts'
import { poolEventCodec } from './pool-event-codec.ts'
import { RowPages } from './row-pages.ts'
import { tradeCodec } from './trade-codec.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/**
 * Rows in a page: a block rewrites half a page of each list it touches, a query reads one value a page. At 32 a
 * page is some 4 KB and the newest 100 rows are four values (src/docs/decisions/0002-embedded-engine.md). The rows of
 * a wallet share few addresses, and a block touches more wallets than mints: theirs are smaller.
 */
const PAGE_ROWS = 32
const WALLET_PAGE_ROWS = 8

/** The lists of rows that are stored in pages. */
export const tradePages = new RowPages('t', 'trade page', tradeCodec, PAGE_ROWS)
export const walletPages = new RowPages('w', 'wallet page', tradeCodec, WALLET_PAGE_ROWS)
export const poolEventPages = new RowPages('e', 'pool event page', poolEventCodec, PAGE_ROWS)

export async function stageRows(view: View, batch: WriteBatch, block: BlockCommit): Promise<void> {
  await poolEventPages.stage(view, batch, block.poolEvents, (row) => row.pool)
  const trades = await tradePages.stage(view, batch, block.trades, (row) => row.mint)
  // A trade without a cash side has a row for each mint, and its trader made it once.
  const made = trades.filter((row) => eventCursor(row) === row.cursor)
  await walletPages.stage(view, batch, made, (row) => row.user, true)
}
