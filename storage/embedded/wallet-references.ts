import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { keysOf } from '../codec/keys.ts'
import { referenceTo, walletReferenceCodec, type WalletReference } from '../codec/wallet-reference.ts'
import type { PageRequest } from '../port.ts'
import type { Database } from './database.ts'
import type { RecordTable } from './record-table.ts'
import { referencedTrades } from './referenced-trades.ts'
import { isMade, compactTradePages, tradeRequest, walletPages } from './row-lists.ts'
import { RowPages } from './row-pages.ts'
import type { View } from './view.ts'

/** A reference takes a tenth of a row. */
const PAGE_REFERENCES = 64

const walletReferencePages = new RowPages(
  'T',
  'page of wallet references',
  walletReferenceCodec,
  PAGE_REFERENCES
)

/** A trade with its reference, before it is stored. */
type Referred = WalletReference & Pick<TradeRow, 'user'>

const referred = (row: TradeRow): Referred => ({ ...referenceTo(row), user: row.user })

/**
 * Trades of an archive. Each is stored once, in the list of its mint, and the list of its wallet refers to it. A page of a
 * wallet takes more reads than one of rows, and the archive less than two thirds of the disk space.
 *
 * A store of an earlier version has wallets' rows in lists of their own, all of them older than the references.
 */
export function archivedTradeTable(database: Database): RecordTable<'trades'> {
  const stage: RecordTable<'trades'>['stage'] = async (view, batch, { trades }) => {
    await compactTradePages.append(view, batch, trades, (row) => row.mint)
    await walletReferencePages.append(view, batch, trades.filter(isMade).map(referred), ({ user }) => user)
  }
  return {
    port: {
      ofMint: (mint, page) => database.read((view) => compactTradePages.read(view, mint, tradeRequest(page))),
      ofWallet: (wallet, page) => database.read((view) => tradesOf(view, wallet, page))
    },
    stage,
    stageMany: stage,
    async amend(view, batch, { trades: { put, remove } }) {
      await compactTradePages.amend(view, batch, { put, remove }, (row) => row.mint)
      const made = { put: put.filter(isMade).map(referred), remove: remove.filter(isMade).map(referred) }
      await walletReferencePages.amend(view, batch, made, ({ user }) => user)
    }
  }
}

/** Returns whether a store has references. Damaged ones do not count, so an archive's readers state that it is one. */
export const hasReferences = (database: Database): Promise<boolean> => database.holds(keysOf('T'))

/** Reads rows of a wallet, `limit` at most, in the requested order. */
async function tradesOf(view: View, wallet: Pubkey, page: PageRequest): Promise<TradeRow[]> {
  const earlier = async (limit: number): Promise<TradeRow[]> =>
    walletPages.read(view, wallet, { ...page, limit })
  const referredTo = async (limit: number): Promise<TradeRow[]> =>
    referencedTrades(view, await walletReferencePages.read(view, wallet, { ...page, limit }))
  const [first, second] = page.order === 'desc' ? [referredTo, earlier] : [earlier, referredTo]
  const rows = await first(page.limit)
  return rows.length >= page.limit ? rows : [...rows, ...(await second(page.limit - rows.length))]
}
