import { eventCursor } from '../../src/market/cursor.ts'
import type { BlockCommit } from '../port.ts'
import { poolEventCodec } from './pool-event-codec.ts'
import { RowPages } from './row-pages.ts'
import { tradeCodec } from './trade-codec.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** The lists of rows that are stored in pages. */
export const tradePages = new RowPages('t', 'trade page', tradeCodec)
export const walletPages = new RowPages('w', 'wallet page', tradeCodec)
export const poolEventPages = new RowPages('e', 'pool event page', poolEventCodec)

export async function stageRows(view: View, batch: WriteBatch, block: BlockCommit): Promise<void> {
  // A trade without a cash side has a row for each mint, and its trader made it once.
  const trades = block.trades.filter((row) => eventCursor(row) === row.cursor)
  await Promise.all([
    tradePages.stage(view, batch, block.trades, (row) => row.mint),
    walletPages.stage(view, batch, trades, (row) => row.user),
    poolEventPages.stage(view, batch, block.poolEvents, (row) => row.pool)
  ])
}
