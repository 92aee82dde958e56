import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { samePubkey } from '../../../../src/chain/pubkey.ts'
import { swapEvent } from '../../../../src/chain/venues/raydium-cpmm-layouts.ts'
import { swapBaseInLog } from '../../../../src/chain/venues/raydium-amm-v4.ts'
import {
  afterFills,
  binPrice,
  fillBins,
  spreadEvenly,
  sumOfBins
} from '../../../../src/localnet/market/curves/bins.ts'
import {
  liquidityOf,
  liquidityWorth,
  sqrtPriceOf,
  swapWithFee
} from '../../../../src/localnet/market/curves/concentrated.ts'
import { productOut } from '../../../../src/localnet/market/curves/constant-product.ts'
import { ceilDiv, floorSqrt } from '../../../../src/localnet/market/curves/integers.ts'
import { takeAsks, takeBids } from '../../../../src/localnet/market/curves/order-book.ts'
import { balanceBeside, invariantOf, stableOut } from '../../../../src/localnet/market/curves/stable-swap.ts'
import { fullRange, sqrtPriceAtTick, tickAtSqrtPrice } from '../../../../src/localnet/market/curves/ticks.ts'
import { testWithFixtures } from '../../../fixtures.ts'
import { decodedFixtures } from '../../../chain/venues/raydium-fixtures.ts'
import { randomRuns } from '../../../random-runs.ts'

const SEED = 20261122
const amount = fc.bigInt(1n, 10n ** 16n)

t.test('roots are the largest whole numbers whose squares are not above', async (t) => {
  fc.assert(
    fc.property(fc.bigInt(0n, 1n << 200n), (value) => {
      const root = floorSqrt(value)
      assert.ok(root * root <= value && (root + 1n) * (root + 1n) > value)
    }),
    { seed: SEED }
  )
  t.pass('200 bits')
})

testWithFixtures(t, 'recorded swaps of Raydium AMM v4 came to what the product gives less 0.25 %', (t) => {
  let compared = 0
  for (const { decoded, transaction } of decodedFixtures('raydium-amm-v4')) {
    if (decoded.events.length === 0) continue
    for (const line of transaction.logs ?? []) {
      const text = line.split('ray_log: ')[1]
      const bytes = text === undefined ? null : Uint8Array.fromBase64(text)
      if (bytes?.[0] !== 3) continue
      const log = swapBaseInLog.read(bytes, 1)!.value
      const [from, to] = log.direction === 1n ? [log.poolPc, log.poolCoin] : [log.poolCoin, log.poolPc]
      const fee = ceilDiv(log.amountIn * 25n, 10_000n)
      t.equal(productOut(log.amountIn - fee, from, to), log.outAmount)
      compared++
    }
  }
  t.ok(compared >= 40, `${compared} swaps`)
  t.end()
})

testWithFixtures(t, 'recorded swaps of Raydium CPMM came to what the product gives less a fee tier', (t) => {
  let compared = 0
  for (const { decoded, transaction } of decodedFixtures('raydium-cpmm')) {
    const pools = decoded.events.filter(({ venue }) => venue === 'raydium-cpmm').map(({ pool }) => pool)
    for (const line of transaction.logs ?? []) {
      if (!line.startsWith('Program data: ')) continue
      const bytes = Uint8Array.fromBase64(line.slice(14))
      if (bytes.subarray(0, 8).toHex() !== swapEvent.discriminator.toHex()) continue
      const event = swapEvent.read(bytes, 8)?.value
      // Other programs log events of this name.
      if (event === undefined || !pools.some((pool) => samePubkey(pool, event.poolId))) continue
      const tiers = [2500n, 10_000n, 20_000n, 40_000n, 3000n, 5000n].map((tier) =>
        productOut(
          event.inputAmount - ceilDiv(event.inputAmount * tier, 1_000_000n),
          event.inputVaultBefore,
          event.outputVaultBefore
        )
      )
      t.ok(tiers.includes(event.outputAmount), `${event.outputAmount} among ${tiers.join(', ')}`)
      compared++
    }
  }
  t.ok(compared >= 3, `${compared} swaps`)
  t.end()
})

t.test('ticks have the prices that the programs have', async (t) => {
  // The programs' own bounds, and prices that Raydium CLMM and Orca logged on mainnet with their ticks.
  t.equal(sqrtPriceAtTick(0), 1n << 64n)
  t.equal(sqrtPriceAtTick(-443_636), 4_295_048_016n)
  const highest = sqrtPriceAtTick(443_636)
  const stated = 79_226_673_521_066_979_257_578_248_091n
  t.ok((highest > stated ? highest - stated : stated - highest) * 10n ** 8n < stated)
  t.equal(tickAtSqrtPrice(18_626_271_121_477_218_509n), 193)
  t.equal(tickAtSqrtPrice(956_659_347_166_266_737_265n), 78_975)
  t.equal(tickAtSqrtPrice(2_552_693_804_262_697_149n), -39_557)
  fc.assert(
    fc.property(fc.integer({ min: -443_636, max: 443_635 }), (tick) => {
      assert.equal(tickAtSqrtPrice(sqrtPriceAtTick(tick)), tick)
      assert.ok(sqrtPriceAtTick(tick) < sqrtPriceAtTick(tick + 1))
    }),
    { seed: SEED }
  )
})

t.test('there and back through liquidity, nobody gains', async (t) => {
  const range = fullRange(64)
  let swaps = 0
  fc.assert(
    fc.property(amount, amount, amount, fc.boolean(), (first, second, input, firstIn) => {
      const sqrtPrice = sqrtPriceOf([first, second])
      const liquidity = liquidityOf([first, second], sqrtPrice, range, 0n)
      const cost = liquidityWorth(liquidity, sqrtPrice, range, 0n, 'up')
      assert.ok(cost[0] <= first && cost[1] <= second)
      const there = swapWithFee(input, firstIn, { liquidity, sqrtPrice }, range, 0n)
      if (there === null) return
      const back = swapWithFee(
        there.amountOut,
        !firstIn,
        { liquidity, sqrtPrice: there.sqrtPrice },
        range,
        0n
      )
      swaps++
      assert.ok(there.amountOut < cost[firstIn ? 1 : 0])
      assert.ok(back === null || back.amountOut <= input)
    }),
    randomRuns(300, SEED)
  )
  t.ok(swaps > 100, `${swaps} swaps`)
})

t.test('bins never give more than they have, and what went in lies in them', async (t) => {
  let swaps = 0
  fc.assert(
    fc.property(
      amount,
      amount,
      amount,
      fc.integer({ min: -300, max: 300 }),
      fc.boolean(),
      (x, y, input, id, xIn) => {
        const bins = { firstId: id - 5, bins: spreadEvenly(x, y, 5) }
        assert.deepEqual(sumOfBins(bins.bins), [x, y])
        const fills = fillBins(bins, id, 100, input, xIn, 2_500_000n)
        if (fills === null) return
        swaps++
        const before = sumOfBins(bins.bins)
        const after = sumOfBins(afterFills(bins, fills, xIn))
        const fee = fills.reduce((sum, each) => sum + each.fee, 0n)
        const out = fills.reduce((sum, { output }) => sum + output, 0n)
        const [paid, given] = xIn ? [0, 1] : [1, 0]
        assert.equal(after[paid as 0 | 1] - before[paid as 0 | 1] + fee, input)
        assert.equal(before[given as 0 | 1] - after[given as 0 | 1], out)
        assert.ok(afterFills(bins, fills, xIn).every((bin) => bin.x >= 0n && bin.y >= 0n))
      }
    ),
    randomRuns(300, SEED)
  )
  t.ok(swaps > 100, `${swaps} swaps`)
  t.equal(binPrice(0, 25), 1n << 64n)
  t.ok(Math.abs(Number(binPrice(-471, 80)) / 2 ** 64 / 1.008 ** -471 - 1) < 1e-9)
})

t.test('a stable pool keeps its invariant, and is never emptied', async (t) => {
  fc.assert(
    fc.property(amount, amount, amount, (x, y, input) => {
      const before = invariantOf([x, y])
      const out = stableOut(input, x, y)
      assert.ok(out < y)
      assert.ok(invariantOf([x + input, y - out]) + 1n >= before)
      assert.ok(balanceBeside(x, before) <= y + 3n)
    }),
    randomRuns(300, SEED)
  )
  t.pass('300 pools')
})

t.test('a taker pays no more than the budget and sells no more than offered', async (t) => {
  const terms = { baseLotsPerUnit: 1000n, feeBps: 5n }
  const orders = [1010n, 1020n, 1030n].map((price, at) => ({ sequence: BigInt(at), price, lots: 500n }))
  fc.assert(
    fc.property(fc.bigInt(0n, 3000n), (offered) => {
      const bought = takeAsks(orders, offered, terms)
      if (bought !== null) {
        assert.ok(bought.quoteLots + bought.fee <= offered)
        const worth = bought.fills.reduce((sum, { order, lots }) => sum + order.price * lots, 0n)
        assert.equal(bought.quoteLots, ceilDiv(worth, 1000n))
      }
      const sold = takeBids(orders.toReversed(), offered, terms)
      if (sold !== null) assert.ok(sold.baseLots <= offered && sold.fee < sold.quoteLots)
    }),
    randomRuns(300, SEED)
  )
  t.equal(takeAsks(orders, 0n, terms), null)
  t.equal(takeBids([], 10n, terms), null)
})
