import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { PageRequest, TradeStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { mapBounded, type CqlClient } from './client.ts'
import { RowList } from './row-list.ts'
import { compactTradesByMint, referencesByWallet, tradesByWallet, type WalletTrade } from './row-lists.ts'
import type { Table } from './table.ts'
import { tradeWrites } from './trades.ts'

/** References that are followed at once: reads of one row, which a server answers within a millisecond. */
const FOLLOWED_AT_ONCE = 16

/**
 * Trades of an archive. Each is stored once, in the list of its mint, and the list of its wallet refers to it. A page of a
 * wallet takes a read for each trade, and the archive less than two thirds of the disk space.
 *
 * A keyspace of an earlier version has wallets' rows in a table of their own, all of them older than the references.
 */
export function archivedTradeTable(base: ScyllaBase): Table<TradeStore> {
  const ofMints = new RowList(base, compactTradesByMint)
  const ofWallets = new RowList(base, referencesByWallet)
  const earlier = new RowList(base, tradesByWallet)
  const ofWallet = async (wallet: Pubkey, page: PageRequest): Promise<TradeRow[]> => {
    const rowsOf = (limit: number): Promise<TradeRow[]> => earlier.read(wallet, { ...page, limit })
    const referredTo = async (limit: number): Promise<TradeRow[]> => {
      const references = await ofWallets.read(wallet, { ...page, limit })
      return mapBounded(references, FOLLOWED_AT_ONCE, tradeOf)
    }
    const [first, second] = page.order === 'desc' ? [referredTo, rowsOf] : [rowsOf, referredTo]
    const rows = await first(page.limit)
    return rows.length >= page.limit ? rows : [...rows, ...(await second(page.limit - rows.length))]
  }
  const tradeOf = async ({ mint, cursor }: WalletTrade): Promise<TradeRow> => {
    const found = await ofMints.at(mint, cursor)
    if (found !== null) return found.row
    throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `the trade of a wallet at cursor ${cursor} is missing`)
  }
  return {
    port: { ofMint: (mint, page) => ofMints.read(mint, page), ofWallet },
    ...tradeWrites(ofMints, ofWallets)
  }
}

/** Returns whether a keyspace has references, so that any process finds the trades of its wallets. */
export async function hasReferences(client: Pick<CqlClient, 'read'>): Promise<boolean> {
  return (await client.read('SELECT owner FROM references_by_wallet_buckets LIMIT 1', [])).length > 0
}
