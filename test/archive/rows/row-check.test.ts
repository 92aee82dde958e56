import t from 'tap'
import { RowCheck } from '../../../src/archive/rows/row-check.ts'
import type { RowCells } from '../../../src/archive/rows/row-field.ts'
import { REFUSAL_REASONS, type RefusalReason } from '../../../src/archive/rows/row-refusal.ts'
import { readTime } from '../../../src/archive/rows/row-time.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { NOW } from './read-files.ts'
import { addressOf, ownRow, PUMP_MINT, PUMPFUN, signatureOf, USDC, WSOL } from './sample-rows.ts'

const CELLS: RowCells = Object.fromEntries(
  Object.entries(ownRow(1)).map(([name, value]) => [name, value?.toString() ?? null])
)
const check = (cells: RowCells, venue: 'phoenix' | null = null) =>
  new RowCheck({ venue, now: NOW }).check(cells)
const reasonOf = (cells: RowCells): RefusalReason | 'accepted' => {
  const outcome = check({ ...CELLS, ...cells })
  return outcome.kind === 'fact' ? 'accepted' : outcome.reason
}
const factOf = (cells: RowCells) => {
  const outcome = check({ ...CELLS, ...cells })
  if (outcome.kind !== 'fact') throw new Error(outcome.detail)
  return outcome.fact
}
/** Cells with amounts in human units. */
const human = (cells: RowCells): RowCells => ({
  in_amount_raw: null,
  in_amount: '1.5',
  in_decimals: '9',
  ...cells
})

t.test('a row becomes a fact', async (t) => {
  const outcome = check(CELLS)
  t.match(outcome, {
    kind: 'fact',
    fact: {
      slot: 254_170_888,
      blockTime: 1_710_000_001,
      venue: 'pumpfun',
      in: { amountRaw: 1_000_001n, decimals: null },
      out: { amountRaw: 2n ** 64n - 2n },
      place: { txIndex: 1, ixIndex: 2, innerIxIndex: null },
      solUsd: null
    }
  })
})

const REFUSED: readonly (readonly [RefusalReason, RowCells])[] = [
  ['missing-field', { signature: null }],
  ['missing-field', { slot: null, block_time: null }],
  ['missing-field', { venue: null, program: null }],
  ['missing-field', { in_mint: null }],
  ['missing-field', { out_amount_raw: null }],
  ['missing-field', { out_amount_raw: null, out_amount: '1' }],
  ['failed-transaction', { success: 'false' }],
  ['bad-signature', { signature: 'abc' }],
  ['bad-signature', { signature: `0${signatureOf(1).slice(1)}` }],
  ['bad-signature', { signature: addressOf(1) }],
  ['bad-signature', { signature: '1'.repeat(100_000) }],
  ['bad-slot', { slot: '-1' }],
  ['bad-slot', { slot: '1.5' }],
  ['bad-slot', { slot: '9007199254740993' }],
  ['bad-time', { block_time: 'yesterday' }],
  ['bad-time', { block_time: '2024-02-30 10:00:00' }],
  ['bad-time', { block_time: 'NaN' }],
  ['bad-time', { block_time: '1e300' }],
  ['time-before-chain', { block_time: '0' }],
  ['time-before-chain', { block_time: '-5' }],
  ['time-before-chain', { block_time: '2020-03-15T23:59:59Z' }],
  ['time-in-future', { block_time: String(NOW + 1) }],
  ['time-in-future', { block_time: '2999-01-01 00:00:00 UTC' }],
  ['unknown-venue', { venue: 'uniswap' }],
  ['unknown-venue', { program: addressOf(7) }],
  ['unknown-venue', { venue: 'phoenix', program: PUMPFUN }],
  ['bad-address', { pool: 'pool' }],
  ['bad-address', { in_mint: '0x55d398326f99059fF775485246999027B3197955' }],
  ['bad-address', { trader: signatureOf(1) }],
  ['same-mint', { in_mint: PUMP_MINT }],
  ['bad-amount', { in_amount_raw: 'NaN' }],
  ['bad-amount', { in_amount_raw: 'Infinity' }],
  ['bad-amount', { in_amount_raw: '1,000' }],
  ['bad-amount', { in_amount_raw: '9'.repeat(1_000_000) }],
  ['zero-amount', { in_amount_raw: '0' }],
  ['zero-amount', { in_amount_raw: '-0.0' }],
  ['zero-amount', human({ in_amount: '0.00' })],
  ['negative-amount', { out_amount_raw: '-1' }],
  ['negative-amount', human({ in_amount: '-1.5' })],
  ['inexact-amount', { in_amount_raw: '1.5' }],
  ['inexact-amount', { in_amount_raw: '1.2345678901234567e+18' }],
  ['amount-out-of-range', { in_amount_raw: '1e300' }],
  ['amount-out-of-range', { in_amount_raw: '18446744073709551616' }],
  ['amount-out-of-range', human({ in_amount: '1e300' })],
  ['amount-out-of-range', human({ in_mint: addressOf(9), in_amount: '1', in_decimals: '255' })],
  ['bad-decimals', human({ in_decimals: '256' })],
  ['bad-decimals', { in_decimals: '-1' }],
  ['decimals-contradict', { in_decimals: '8' }],
  ['decimals-contradict', { mint: WSOL, decimals: '6' }],
  ['decimals-contradict', human({ in_mint: USDC, in_amount: '0.0123456789', in_decimals: '6' })],
  ['bad-price', { price: '0' }],
  ['bad-price', { price: '-1' }],
  ['bad-price', { price: 'NaN' }],
  ['bad-price', { price: '1e999' }],
  ['bad-price', { price: '1e300' }],
  ['bad-price', { sol_usd: '0' }],
  ['bad-price', { sol_usd: '-1' }],
  ['bad-price', { sol_usd: 'NaN' }],
  ['bad-price', { sol_usd: '1e300' }],
  ['bad-price', { price_usd: '1e300' }],
  ['bad-price', { in_decimals: '9', out_decimals: '6', amount_usd: '1e39' }],
  ['bad-place', { tx_index: '-1' }],
  ['bad-place', { ix_index: null, ix_number: '0' }],
  ['bad-place', { inner_ix_index: 'first' }],
  ['bad-detail', { fees: '[{"kind":"bribe"}]' }],
  ['bad-detail', { reserves: '{' }]
]

for (const [reason, cells] of REFUSED)
  t.test(`${reason}: ${JSON.stringify(cells).slice(0, 100)}`, async (t) => {
    t.equal(reasonOf(cells), reason)
  })

t.test('every reason of a row has an example', async (t) => {
  const shown = new Set(REFUSED.map(([reason]) => reason))
  const ofReaders = REFUSAL_REASONS.indexOf('missing-field')
  t.same(
    REFUSAL_REASONS.slice(ofReaders).filter((reason) => !shown.has(reason)),
    []
  )
})

t.test('an amount in both units states the decimals', async (t) => {
  const decimalsOf = (cells: RowCells): number | null => factOf(cells).out.decimals
  t.equal(decimalsOf({ out_amount_raw: '1234567', out_amount: '1.234567' }), 6)
  t.equal(decimalsOf({ out_amount_raw: '5', out_amount: '5' }), 0)
  t.equal(decimalsOf({ out_amount_raw: '1234567', out_amount: '2.5' }), null)
  t.equal(decimalsOf({ out_amount_raw: '1234567', out_amount: 'NaN' }), null)
})

t.test('amounts in human units become exact base units', async (t) => {
  for (const [amount, decimals, raw] of [
    ['1.5', '9', 1_500_000_000n],
    ['0.000000001', '9', 1n],
    ['18446744073.709551615', '9', 2n ** 64n - 1n],
    ['4140377.283519', '6', 4_140_377_283_519n],
    ['1000000.000000', '6', 1_000_000_000_000n],
    ['1e-7', '9', 100n],
    ['1.5E3', '6', 1_500_000_000n],
    ['7', '0', 7n]
  ] as const) {
    const fact = factOf(human({ in_mint: addressOf(99), in_amount: amount, in_decimals: decimals }))
    t.equal(fact.in.amountRaw, raw, amount)
  }
  const noise = human({ in_mint: addressOf(99), in_amount: '0.30000000000000004', in_decimals: '9' })
  t.equal(factOf(noise).in.amountRaw, 300_000_000n, 'the rounding error of a double is rounded away')
  t.equal(factOf(human({ in_decimals: null })).in.amountRaw, 1_500_000_000n, 'wrapped SOL has 9 decimals')
})

t.test('a row says nothing about the decimals of other rows', async (t) => {
  const checks = new RowCheck({ venue: null, now: NOW })
  const lacking = { out_amount_raw: null, out_amount: '1.5', out_decimals: null }
  const refusal = { reason: 'missing-field', detail: /has no out_decimals, without which/ }
  t.match(checks.check({ ...CELLS, ...lacking }), refusal)
  t.equal(checks.check({ ...CELLS, out_decimals: '6' }).kind, 'fact')
  t.match(checks.check({ ...CELLS, ...lacking }), refusal, 'in any order of the rows')
  t.match(checks.check({ ...CELLS, mint: PUMP_MINT, decimals: '9' }), { fact: { out: { decimals: 9 } } })
})

t.test('the venue follows from the program, else from the operator', async (t) => {
  t.equal(factOf({ venue: null }).venue, 'pumpfun')
  t.equal(factOf({ program: null }).program, null)
  t.match(check({ ...CELLS, venue: null, program: null }, 'phoenix'), { fact: { venue: 'phoenix' } })
  t.match(check(CELLS, 'phoenix'), { fact: { venue: 'pumpfun' } }, 'a row that names its venue has it')
})

t.test('native SOL stands as wrapped SOL', async (t) => {
  const { in: paid } = factOf({ in_mint: '1'.repeat(32) })
  t.equal(pubkeyToBase58(paid.mint), WSOL)
})

t.test('instructions numbered from 1 become indexes from 0', async (t) => {
  const none = { ix_index: null, inner_ix_index: null }
  const { place } = factOf({ ...none, ix_number: '3', inner_ix_number: '0' })
  t.same([place.ixIndex, place.innerIxIndex], [2, null])
  const { place: inner } = factOf({ ...none, ix_number: '3', inner_ix_number: '1', tx_index: '221.0' })
  t.same(inner, { txIndex: 221, ixIndex: 2, innerIxIndex: 0 })
})

t.test('times are read in the forms of vendors', async (t) => {
  for (const text of [
    '1710000000',
    '1710000000.0',
    '1710000000000',
    '1710000000999',
    '1710000000000000',
    '2024-03-09 16:00:00',
    '2024-03-09 16:00:00.000 UTC',
    '2024-03-09T16:00:00Z',
    '2024-03-09T16:00:00.123456Z',
    '2024-03-09T18:00:00+02:00',
    '2024-03-09 10:30:00-0530'
  ])
    t.equal(readTime(text), 1_710_000_000, text)
  for (const text of [
    '',
    '2024-03-09',
    '2024-13-09 00:00:00',
    '2024-03-09 24:00:00',
    '09.03.2024 16:00',
    '1e20'
  ])
    t.equal(readTime(text), null, text)
})
