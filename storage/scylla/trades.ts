import { isUnstated } from '../../src/chain/events.ts'
import { eventCursor } from '../../src/market/cursor.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import type { TradeStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { RowList } from './row-list.ts'
import { tradesByMint, tradesByWallet, type WalletTrade } from './row-lists.ts'
import type { Table } from './table.ts'

/** Trades by mint, and by the wallet that made them. */
export function tradeTable(base: ScyllaBase): Table<TradeStore> {
  const ofMints = new RowList(base, tradesByMint)
  const ofWallets = new RowList(base, tradesByWallet)
  return {
    port: {
      ofMint: (mint, page) => ofMints.read(mint, page),
      ofWallet: (wallet, page) => ofWallets.read(wallet, page)
    },
    ...tradeWrites(ofMints, ofWallets)
  }
}

/** Returns the writes of trades to the lists of mints and of wallets. A list of wallets has trades, or references to them. */
export function tradeWrites(
  ofMints: RowList<TradeRow>,
  ofWallets: RowList<TradeRow> | RowList<WalletTrade>
): Pick<Table<TradeStore>, 'stage' | 'amend'> {
  return {
    async stage(commit) {
      const { trades } = commit.blocks
      ofMints.stage(commit, trades, (row) => row.mint)
      ofWallets.stage(commit, trades.filter(isMade), userOf)
    },
    async amend(commit, { trades }) {
      ofMints.amend(commit, trades, (row) => row.mint)
      const made = { put: trades.put.filter(isMade), remove: trades.remove.filter(isMade) }
      ofWallets.amend(commit, made, userOf)
    }
  }
}

/** A trade without a cash side has a row for each mint, and its trader made it once. Some imported trades have no trader. */
const isMade = (row: TradeRow): boolean => eventCursor(row) === row.cursor && !isUnstated(row, 'user')

const userOf = ({ user }: Pick<TradeRow, 'user'>): TradeRow['user'] => user
