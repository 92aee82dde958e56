import type { z } from 'zod'
import { encodeBase58 } from '../../chain/base58.ts'
import { isUnstated } from '../../chain/events.ts'
import { pubkeyToBase58, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { sourceOfSlot, type ArchiveEnd } from '../../ingest/bodies/source.ts'
import { secondsText } from '../../kernel/http/time.ts'
import { humanAmount } from '../../market/amount.ts'
import type { CashList } from '../../market/cash.ts'
import type { TradeRow } from '../../market/rows.ts'
import type { TradeSection } from '../../../storage/port.ts'
import type { TRADE, WALLET_TRADE } from './trade-schema.ts'
import { tradeBody, walletTradeBody } from './trade.ts'

type TradeBody = z.input<typeof TRADE>
type WalletTradeBody = z.input<typeof WALLET_TRADE>

/** A trade row, and the facts outside of it that its fields depend on. */
interface Context {
  readonly cash: CashList
  readonly archiveEnd: ArchiveEnd
}
type FieldRenderers<Body> = {
  readonly [Name in keyof Body]?: (row: TradeRow, context: Context) => Body[Name]
}

const isTokenIn = ({ cashSide, mint, inMint }: TradeRow): boolean =>
  cashSide === null ? samePubkey(mint, inMint) : cashSide === 'out'
const tokenMint = (row: TradeRow): Pubkey => (isTokenIn(row) ? row.inMint : row.outMint)
const cashMint = (row: TradeRow): Pubkey => (isTokenIn(row) ? row.outMint : row.inMint)
const execIn = (row: TradeRow): number => humanAmount(row.inAmount, row.inDecimals)
const execOut = (row: TradeRow): number => humanAmount(row.outAmount, row.outDecimals)
const cashAmount = (row: TradeRow): number | null =>
  row.cashSide === null ? null : isTokenIn(row) ? execOut(row) : execIn(row)
const userOf = (row: TradeRow): string | null => (isUnstated(row, 'user') ? null : pubkeyToBase58(row.user))

/**
 * Renders single fields of a trade, equal to those of `tradeBody`. A page of five fields takes a seventh of the time of
 * whole trades. The fields that are not here are taken from the whole body.
 */
const FIELDS: FieldRenderers<WalletTradeBody> = {
  kind: () => 'trade',
  event: ({ cashSide }) => (cashSide === null ? 'swap' : cashSide === 'in' ? 'buy' : 'sell'),
  venue: ({ venue }) => venue,
  program: ({ program }) => pubkeyToBase58(program),
  pool: (row) => (isUnstated(row, 'pool') ? null : pubkeyToBase58(row.pool)),
  slot: (row) => (isUnstated(row, 'slot') ? null : row.slot),
  block_time: ({ blockTime }) => blockTime,
  ts: ({ blockTime }) => secondsText(blockTime),
  ts_ms: ({ blockTime }) => blockTime * 1000,
  signature: ({ signature }) => encodeBase58(signature),
  tx_index: (row) => (isUnstated(row, 'txIndex') ? null : row.txIndex),
  ix_index: (row) => (isUnstated(row, 'ixIndex') ? null : row.ixIndex),
  inner_ix_index: ({ innerIxIndex }) => innerIxIndex,
  cursor: ({ cursor }) => cursor,
  commitment: ({ commitment }) => commitment,
  user: userOf,
  trader: userOf,
  wallet: ({ user }) => pubkeyToBase58(user),
  fee_payer: (row) => (isUnstated(row, 'feePayer') ? null : pubkeyToBase58(row.feePayer)),
  mint: (row) => pubkeyToBase58(tokenMint(row)),
  decimals: (row) => (isTokenIn(row) ? row.inDecimals : row.outDecimals),
  is_buy: ({ cashSide }) => (cashSide === null ? null : cashSide === 'in' ? 1 : 0),
  side: ({ cashSide }) => (cashSide === null ? null : cashSide === 'in' ? 'buy' : 'sell'),
  cash_mint: (row) => (row.cashSide === null ? null : pubkeyToBase58(cashMint(row))),
  cash_symbol: (row, { cash }) => (row.cashSide === null ? null : (cash.of(cashMint(row))?.symbol ?? null)),
  cash_amount: cashAmount,
  cash_amount_raw: (row) =>
    row.cashSide === null ? null : (isTokenIn(row) ? row.outAmount : row.inAmount).toString(),
  token_amount: (row) => (isTokenIn(row) ? execIn(row) : execOut(row)),
  token_amount_raw: (row) => (isTokenIn(row) ? row.inAmount : row.outAmount).toString(),
  price: ({ price }) => price,
  price_usd: ({ price, cashUsd }) => (cashUsd === null || price === null ? null : price * cashUsd),
  amount_usd: (row) => {
    const amount = cashAmount(row)
    return amount === null || row.cashUsd === null ? null : amount * row.cashUsd
  },
  in_mint: ({ inMint }) => pubkeyToBase58(inMint),
  out_mint: ({ outMint }) => pubkeyToBase58(outMint),
  exec_in: execIn,
  exec_out: execOut,
  in_amount_raw: ({ inAmount }) => inAmount.toString(),
  out_amount_raw: ({ outAmount }) => outAmount.toString(),
  trader_in_raw: ({ traderIn }) => traderIn.toString(),
  trader_out_raw: ({ traderOut }) => traderOut.toString(),
  exact: ({ exact }) => exact,
  price_forming: ({ priceForming }) => priceForming,
  failed: () => false,
  source: ({ slot }, { archiveEnd }) => sourceOfSlot(slot, archiveEnd).source
}

/** Renders trades, whole or with the fields that a request selects. */
export interface TradeRenderer<Body> {
  readonly render: (row: TradeRow) => Body
  /** Whether the bodies have the selected fields alone. */
  readonly isSelected: boolean
  /** Sections of the rows that are not rendered. */
  readonly unused: ReadonlySet<TradeSection> | undefined
}

/** Returns a renderer of trades. `fields` are those that a request selects; null for all. */
export function tradeRenderer(
  fields: readonly string[] | null,
  cash: CashList,
  archiveEnd: ArchiveEnd
): TradeRenderer<TradeBody> {
  const render = (row: TradeRow): TradeBody => tradeBody(row, cash, archiveEnd)
  return someFields(fields, { cash, archiveEnd }) ?? { render, isSelected: false, unused: undefined }
}

/** Returns a renderer of the trades of a wallet, as `tradeRenderer` does. */
export function walletTradeRenderer(
  fields: readonly string[] | null,
  cash: CashList,
  archiveEnd: ArchiveEnd
): TradeRenderer<WalletTradeBody> {
  const render = (row: TradeRow): WalletTradeBody => walletTradeBody(row, cash, archiveEnd)
  return someFields(fields, { cash, archiveEnd }) ?? { render, isSelected: false, unused: undefined }
}

/** Fields that are rendered from a section of a row. None of `FIELDS` is rendered from its details. */
const SIGNATURE_FIELDS: readonly string[] = ['signature']
const TRADER_FIELDS: readonly string[] = ['trader_in_raw', 'trader_out_raw']

/** Returns the sections of a trade that none of these fields is rendered from. */
function unusedSections(fields: readonly string[]): ReadonlySet<TradeSection> {
  const unused = new Set<TradeSection>(['details'])
  if (!SIGNATURE_FIELDS.some((name) => fields.includes(name))) unused.add('signature')
  if (!TRADER_FIELDS.some((name) => fields.includes(name))) unused.add('traderAmounts')
  return unused
}

/** Returns a renderer of these fields alone; null if one of them is not rendered singly. */
function someFields(
  fields: readonly string[] | null,
  context: Context
): TradeRenderer<WalletTradeBody> | null {
  if (fields === null) return null
  const renderers = fields.map((name) => FIELDS[name as keyof WalletTradeBody])
  if (renderers.some((render) => render === undefined)) return null
  const render = (row: TradeRow): WalletTradeBody => {
    const body: Record<string, unknown> = {}
    for (let i = 0; i < fields.length; i++) {
      const value = renderers[i]!(row, context)
      if (value !== undefined) body[fields[i]!] = value
    }
    // The schema of a whole row stays the type of the handler.
    return body as WalletTradeBody
  }
  return { render, isSelected: true, unused: unusedSections(fields) }
}
