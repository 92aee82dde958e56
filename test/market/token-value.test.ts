import t from 'tap'
import type { CurveRow, PoolRow } from '../../src/market/registry-rows.ts'
import { tokenValue } from '../../src/market/token-value.ts'
import { key } from './world.ts'

const pool = (n: number, more: Partial<PoolRow> = {}): PoolRow =>
  ({
    pool: key(n),
    venue: 'raydium-cpmm',
    baseDecimals: 0,
    quoteDecimals: 0,
    lastPrice: { price: 2, cashUsd: 1 },
    reserves: { base: 5n, quote: 10n },
    ...more
  }) as PoolRow
const curve = (status: CurveRow['status']): CurveRow =>
  ({ platform: 'pumpfun', curve: key(9), status, reserves: {}, forSale: null }) as unknown as CurveRow
const valueOf = (pools: readonly PoolRow[], of: CurveRow | null = null) => {
  const { liquidityUsd, unvaluedPools } = tokenValue({
    launch: null,
    minted: null,
    curve: of,
    pools,
    pair: null
  })
  return [liquidityUsd, unvaluedPools]
}

t.test('liquidity says how many pools it lacks; a curve that has ended is none of them', async (t) => {
  t.strictSame(valueOf([pool(1)]), [20, 0])
  t.strictSame(valueOf([pool(1), pool(2, { reserves: null }), pool(3, { lastPrice: null })]), [20, 2])
  t.strictSame(valueOf([pool(2, { reserves: null })]), [null, 0], 'an unknown sum lacks nothing')
  const ofCurve = pool(9, { venue: 'pumpfun' })
  t.strictSame(valueOf([pool(1), ofCurve], curve('graduated')), [20, 0])
  t.strictSame(valueOf([pool(1), ofCurve], curve('bonding')), [30, 0])
  t.strictSame(valueOf([pool(1), pool(9, { venue: 'pumpfun', reserves: null })], curve('bonding')), [20, 1])
})
