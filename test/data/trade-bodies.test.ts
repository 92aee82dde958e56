import fc from 'fast-check'
import t from 'tap'
import { UNSTATED } from '../../src/chain/events.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { tradeRenderer, walletTradeRenderer, type TradeRenderer } from '../../src/data/bodies/trade-fields.ts'
import { TRADE, WALLET_TRADE } from '../../src/data/bodies/trade-schema.ts'
import { tradeBody, walletTradeBody } from '../../src/data/bodies/trade.ts'
import { pickFields } from '../../src/kernel/http/list/row-fields.ts'
import { CashList, USDC, WSOL } from '../../src/market/cash.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { originAt, sampleTrade } from '../../storage/test/sample-rows.ts'
import { randomRuns } from '../random-runs.ts'

const CASH = new CashList()
const [SOL, DOLLAR] = [pubkeyFromBase58(WSOL), pubkeyFromBase58(USDC)]
const ALL = Object.values(UNSTATED).reduce<number>((sum, bit) => sum | bit, 0)

/** Generates trades of every kind: of cash and of two tokens, in routes, with facts that an imported file lacks. */
const trade = fc.nat().map((seed): TradeRow => {
  const choices = new Choices(seed)
  const row = sampleTrade(
    choices,
    originAt(choices, 1_000, choices.below(1_000), 1_700_000_000),
    sampleMint(1)
  )
  const fees = row.fees.map((fee) => ({ ...fee, mint: choices.of([fee.mint, SOL, row.inMint]) }))
  return {
    ...row,
    inMint: choices.of([row.inMint, SOL]),
    outMint: choices.of([row.outMint, DOLLAR]),
    fees,
    feePayer: choices.of([row.feePayer, row.user]),
    ...(choices.chance(0.4) && { unstated: choices.below(ALL + 1) })
  }
})
const archiveEnd = fc.option(fc.record({ slot: fc.integer({ min: 998, max: 1_002 }), blockTime: fc.nat() }))
const fieldsOf = (names: readonly string[]) => fc.shuffledSubarray([...names], { minLength: 1 })

/** Renders a row whose unused sections are empty, and selects the fields if the renderer does not. */
function selected<Body extends object>(
  { render, isSelected, unused }: TradeRenderer<Body>,
  row: TradeRow,
  fields: readonly string[]
): object {
  const body = render({
    ...row,
    ...(unused?.has('signature') === true && { signature: new Uint8Array() }),
    ...(unused?.has('traderAmounts') === true && { traderIn: 0n, traderOut: 0n }),
    ...(unused?.has('details') === true && { fees: [], reserves: null, route: null })
  })
  return isSelected ? body : pickFields(body, fields)
}

t.test('the fields that a request selects are those of the whole trade', async () => {
  fc.assert(
    fc.property(trade, archiveEnd, fieldsOf(Object.keys(TRADE.shape)), (row, end, fields) => {
      const picked = pickFields(tradeBody(row, CASH, end), fields)
      const single = selected(tradeRenderer(fields, CASH, end), row, fields)
      return JSON.stringify(single) === JSON.stringify(picked)
    }),
    randomRuns(1_000)
  )
  fc.assert(
    fc.property(trade, archiveEnd, fieldsOf(Object.keys(WALLET_TRADE.shape)), (row, end, fields) => {
      const picked = pickFields(walletTradeBody(row, CASH, end), fields)
      const single = selected(walletTradeRenderer(fields, CASH, end), row, fields)
      return JSON.stringify(single) === JSON.stringify(picked)
    }),
    randomRuns(1_000)
  )
})

t.test('a trade has one text, whether its addresses share objects or are copies', async () => {
  const copied = (row: TradeRow): TradeRow => ({
    ...row,
    inMint: row.inMint.slice(),
    outMint: row.outMint.slice(),
    user: row.user.slice(),
    feePayer: row.feePayer.slice(),
    fees: row.fees.map((fee) => ({ ...fee, mint: fee.mint.slice() }))
  })
  fc.assert(
    fc.property(
      trade,
      (row) => JSON.stringify(tradeBody(row, CASH)) === JSON.stringify(tradeBody(copied(row), CASH))
    ),
    randomRuns(1_000)
  )
})
