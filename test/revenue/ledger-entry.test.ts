import fc from 'fast-check'
import t from 'tap'
import {
  LEDGER_ENTRY_BODY,
  LEDGER_ENTRY_EVENT,
  ledgerEntryBody,
  ledgerEntryEvent
} from '../../src/revenue/bodies/ledger-entry.ts'
import { USDC, USDT, WSOL } from '../../src/market/cash.ts'
import type { LedgerRow } from '../../src/revenue/ledger-reader.ts'
import { randomRuns } from '../random-runs.ts'
import { PAYER, ROW, WATCHED } from './ledger-row.ts'

const NAMES = { label: 'Our fees', role: 'fee_wallet', symbol: 'SOL' }
const U64_MAX = 2n ** 64n - 1n

t.test('a row of the ledger, with all numbers known, has the fields of the API', async (t) => {
  const body = ledgerEntryBody(ROW, NAMES)
  t.strictSame(body, {
    id: `${ROW.signature}:${WATCHED}:${WATCHED}`,
    address: WATCHED,
    account: WATCHED,
    label: 'Our fees',
    role: 'fee_wallet',
    mint: WSOL,
    is_native: true,
    symbol: 'SOL',
    decimals: 9,
    delta: 1.5,
    delta_raw: '1500000000',
    pre_raw: '1000000000',
    post_raw: '2500000000',
    value_usd: 255,
    direction: 'in',
    kind: 'transfer',
    fee_lamports: 5_000,
    fee_payer: PAYER,
    attributed_fee_usd: null,
    counterparty: PAYER,
    counterparty_confidence: 'exact',
    signature: ROW.signature,
    slot: 300,
    ix_index: 2,
    ts: '2024-10-27 03:33:20',
    ts_ms: 1_730_000_000_000
  })
  t.same(LEDGER_ENTRY_BODY.strict().parse(body), body)
})

t.test('an outflow, without a price, a symbol or a counterparty, is negative and has nulls', async (t) => {
  const unknown = { valueUsd: null, counterparty: null, confidence: 'none', ixIndex: null } as const
  const row: LedgerRow = { ...ROW, ...unknown, post: 0n, feeUsd: 0.00085 }
  const body = ledgerEntryBody(row, { ...NAMES, symbol: null })
  t.match(body, {
    ...{ delta: -1, delta_raw: '-1000000000', pre_raw: '1000000000', post_raw: '0', direction: 'out' },
    ...{ value_usd: null, attributed_fee_usd: 0.00085, symbol: null },
    ...{ counterparty: null, counterparty_confidence: 'none', ix_index: null }
  })
  t.same(LEDGER_ENTRY_BODY.strict().parse(body), body)
})

t.test('rows of one transaction, of a watched token account too, have different ids', async (t) => {
  const rows = [
    ROW,
    { ...ROW, isNative: false },
    { ...ROW, isNative: false, mint: USDC },
    { ...ROW, isNative: false, mint: USDC, account: PAYER },
    // An account that was closed and opened again for another mint.
    { ...ROW, isNative: false, mint: USDT, account: PAYER },
    { ...ROW, address: PAYER, account: PAYER }
  ]
  const ids = rows.map((row) => ledgerEntryBody(row, NAMES).id)
  t.equal(new Set(ids).size, rows.length)
  t.equal(ids[3], `${ROW.signature}:${WATCHED}:${PAYER}:${USDC}`)
})

t.test('the change of any two balances, as text and as a number, is their exact difference', async () => {
  const balance = fc.bigInt({ min: 0n, max: U64_MAX })
  fc.assert(
    fc.property(balance, balance, fc.integer({ min: 0, max: 255 }), (pre, post, decimals) => {
      fc.pre(pre !== post)
      const body = ledgerEntryBody({ ...ROW, pre, post, decimals }, NAMES)
      const opposite = ledgerEntryBody({ ...ROW, pre: post, post: pre, decimals }, NAMES)
      LEDGER_ENTRY_BODY.strict().parse(body)
      return (
        BigInt(body.pre_raw) + BigInt(body.delta_raw) === BigInt(body.post_raw) &&
        Math.sign(body.delta) === (post > pre ? 1 : -1) &&
        body.delta === -opposite.delta &&
        (decimals > 0 || body.delta === Number(post - pre)) &&
        body.direction === (post > pre ? 'in' : 'out')
      )
    }),
    randomRuns(500)
  )
})

t.test('an event has the fields of the row, the block time, and the time of the change', async (t) => {
  const { ts_ms: blockMs, ...body } = ledgerEntryBody(ROW, NAMES)
  const data = ledgerEntryEvent('retracted', ROW, NAMES, 1_730_000_000_450)
  t.strictSame(data, {
    event: 'retracted',
    ...body,
    block_time: blockMs / 1000,
    ts_ms: 1_730_000_000_450
  })
  const event = { ...data, cursor: 7 }
  t.same(LEDGER_ENTRY_EVENT.strict().parse(event), event)
})
