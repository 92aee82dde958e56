import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Fee, LiquidityChange, PoolChange, Trade, TradeReserves } from '../../../../src/chain/events.ts'
import { pubkeyFromBase58, samePubkey, type Pubkey } from '../../../../src/chain/pubkey.ts'
import type { Executed, NewPool, PoolVenue } from '../../../../src/localnet/market/venue.ts'
import type { DecodedScript } from '../market-world.ts'
import { randomRuns } from '../../../random-runs.ts'
import { PoolBench, plain } from './pool-bench.ts'

type Two = readonly [bigint, bigint]

/** Venue-specific parameters of the pool tests; pairs are in the order of the pool's mints. */
export interface PoolCase<Pool extends PoolFacts> {
  readonly venue: PoolVenue<Pool>
  readonly program: string
  readonly feeBps: number | null
  /** Where the instruction that opens a pool shows its initial amounts; if nowhere, the first liquidity is an event. */
  readonly opensWith: 'amounts' | 'liquidity' | 'nothing-shown' | 'liquidity-only'
  readonly exact?: 'in' | 'out' | null
  /** Returns the vaults' contents according to the pool's accounts; absent if only the vaults show them. */
  stated?(pool: Pool, bench: PoolBench): Two
  /** Returns the product of the reserves shown by accounts, which no swap may decrease; also checks the other accounts. */
  product?(pool: Pool, bench: PoolBench): bigint
  /** Returns the fees and reserves that the venue states for a swap, given the pool after and before it. */
  fees?(swap: SwapFacts, pool: Pool, before: Pool): readonly Omit<Fee, 'mint'>[]
  feeSide?(swap: SwapFacts, pool: Pool): 'in' | 'out'
  reserves?(swap: SwapFacts, pool: Pool, bench: PoolBench): TradeReserves | null
  /** Maximum surplus of the vaults over the accounts: rounding that no account shows. */
  readonly slack?: bigint
  readonly newPool?: (bench: PoolBench) => NewPool
  /** Whether a swap must take all of its input; true by default. */
  readonly takesAll?: boolean
}

export interface PoolFacts {
  readonly address: Pubkey
  readonly mints: readonly [Pubkey, Pubkey]
  readonly vaults: readonly [Pubkey, Pubkey]
}

export interface SwapFacts extends Executed {
  readonly isBuy: boolean
  /** Whether the first mint went in. */
  readonly firstIn: boolean
}

const JUPITER = pubkeyFromBase58('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4')
const SEED = 20261122
/** Bytes of the largest legacy or version 0 transaction. */
const PACKET_BYTES = 1232

/** The checks that every venue's pools pass. */
export function poolsConform<Pool extends PoolFacts>(t: Test, of: PoolCase<Pool>): void {
  for (const token2022 of [false, true]) {
    if (token2022 && CLASSIC_ONLY.has(of.venue.venue)) continue
    const title = token2022 ? ' of a Token-2022 mint' : ''
    t.test(`a pool${title} opens, trades both ways and changes its liquidity`, async (t) => {
      const bench = new PoolBench(`${of.venue.venue}${title}`, { token2022 })
      const pool = opens(t, bench, of)
      for (const isBuy of [true, false, false, true]) {
        const amountIn = isBuy ? 1_234_567_890n : 3_210_987_654_321n
        const decoded = swaps(bench, of, pool, isBuy, amountIn)
        if (decoded === null) t.fail('a swap gave nothing')
      }
      if (of.venue.changeLiquidity !== null) {
        for (const [by, thousandths] of [
          [bench.provider, 50],
          [bench.creator, 120],
          [bench.provider, -20],
          [bench.creator, -300]
        ] as const) {
          const events = changes(bench, of, pool, by, thousandths)
          t.equal(events, 1, `${thousandths} thousandths give one event`)
        }
      }
      t.ok(of.venue.price(pool, bench) > 0)
    })
  }

  t.test('a swap below a router is a leg of its route', async (t) => {
    const bench = new PoolBench(`${of.venue.venue} in a route`)
    const pool = opens(t, bench, of)
    const { given, events, notes } = bench.runFor(bench.trader, (script) => {
      const executed: (Executed | null)[] = []
      script.call(
        JUPITER,
        [{ address: bench.trader, signer: true, writable: true }],
        Uint8Array.fromHex('e517cb977ae3ad2a'),
        (call) => {
          const swap = { trader: bench.trader, isBuy: true, amountIn: 2_000_000_000n }
          executed.push(of.venue.swap(call, pool, swap, bench))
        }
      )
      return executed[0]
    })
    t.same(notes, [])
    t.equal(events.length, 1)
    t.match(events[0], { kind: 'trade', ixIndex: 0, innerIxIndex: 0, route: { hop: 1, hops: 1 } })
    t.equal((events[0] as Trade).inAmount, given!.amountIn)
  })

  t.test('what buys push up, sales bring down', async (t) => {
    const bench = new PoolBench(`${of.venue.venue} prices`)
    const pool = opens(t, bench, of)
    const start = of.venue.price(pool, bench)
    const opened = of.newPool?.(bench) ?? bench.newPool()
    const ratio = Number(opened.quoteAmount) / Number(opened.baseAmount)
    t.ok(Math.abs(start / ratio - 1) < 0.02, `starts at what was put in: ${start / ratio}`)
    for (let i = 0; i < 4; i++) swaps(bench, of, pool, true, opened.quoteAmount / 15n)
    const high = of.venue.price(pool, bench)
    t.ok(high > start * 1.0001, `${start} → ${high}`)
    for (let i = 0; i < 4; i++) swaps(bench, of, pool, false, opened.baseAmount / 15n)
    t.ok(of.venue.price(pool, bench) < high * 0.9999)
  })

  t.test('random trades and changes: events say what happened, vaults hold what accounts say', async (t) => {
    let trades = 0
    let refused = 0
    const amount = fc
      .tuple(fc.integer({ min: 0, max: 14 }), fc.bigInt(1n, 10n))
      .map(([digits, m]) => m * 10n ** BigInt(digits) + m * 7n)
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ kind: fc.constant('swap' as const), isBuy: fc.boolean(), amount })
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('liquidity' as const),
          thousandths: fc.integer({ min: -400, max: 300 }),
          byCreator: fc.boolean()
        })
      }
    )
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 12 }),
        fc.bigInt(10n ** 11n, 9n * 10n ** 14n),
        fc.bigInt(10n ** 9n, 10n ** 12n),
        fc.boolean(),
        (steps, baseAmount, quoteAmount, native) => {
          const bench = new PoolBench(`random ${baseAmount}`, { native })
          const pool = opens(null, bench, of, { ...bench.newPool(baseAmount, quoteAmount) })
          for (const each of steps) {
            if (each.kind === 'swap') {
              if (swaps(bench, of, pool, each.isBuy, each.amount) === null) refused++
              else trades++
            } else if (of.venue.changeLiquidity !== null) {
              const by = each.byCreator ? bench.creator : bench.provider
              changes(bench, of, pool, by, each.thousandths)
            }
          }
        }
      ),
      { ...randomRuns(40, SEED), endOnFailure: true }
    )
    t.ok(trades > 60, `${trades} trades, ${refused} that the pool refused`)
  })
}

/** Programs that do not support Token-2022. */
const CLASSIC_ONLY = new Set(['raydium-amm-v4', 'raydium-stable', 'meteora-damm-v1', 'lifinity', 'phoenix'])

function opens<Pool extends PoolFacts>(
  t: Test | null,
  bench: PoolBench,
  of: PoolCase<Pool>,
  wanted = of.newPool?.(bench) ?? bench.newPool()
): Pool {
  const {
    given: pool,
    events,
    notes
  } = bench.runFor(bench.creator, (script) => of.venue.open(script, wanted, bench))
  const firstIsBase = samePubkey(pool.mints[0], bench.base)
  const held = vaultsOf(bench, pool)
  const origin = {
    venue: of.venue.venue,
    program: of.program,
    pool: plain(pool.address),
    user: plain(bench.creator)
  }
  const expected: unknown[] = []
  const showsAmounts = of.opensWith === 'amounts'
  if (of.opensWith !== 'liquidity-only') {
    const created: Omit<PoolChange, 'venue' | 'program' | 'pool' | 'user' | 'ixIndex' | 'innerIxIndex'> = {
      kind: 'pool',
      event: 'create',
      baseMint: pool.mints[0],
      quoteMint: pool.mints[1],
      baseVault: pool.vaults[0],
      quoteVault: pool.vaults[1],
      feeBps: of.feeBps,
      initialBase: showsAmounts ? held[0] : null,
      initialQuote: showsAmounts ? held[1] : null
    }
    expected.push({ ...origin, ...(plain(created) as object) })
  }
  if (of.opensWith === 'liquidity' || of.opensWith === 'liquidity-only') {
    expected.push({ ...origin, ...(plain(liquidityOf(bench, pool, 'add', held)) as object) })
  }
  assert.deepEqual(notes, [])
  assert.deepEqual(events.map(withoutPlace), expected)
  const put = firstIsBase ? [wanted.baseAmount, wanted.quoteAmount] : [wanted.quoteAmount, wanted.baseAmount]
  assert.ok(held[0] <= put[0]! && held[1] <= put[1]!, 'no more than what was offered')
  t?.ok(held[0] * 100n >= put[0]! * 90n && held[1] * 100n >= put[1]! * 90n, 'nearly all that was offered')
  agrees(bench, of, pool)
  return pool
}

function swaps<Pool extends PoolFacts>(
  bench: PoolBench,
  of: PoolCase<Pool>,
  pool: Pool,
  isBuy: boolean,
  amountIn: bigint
): DecodedScript | null {
  const [inMint, outMint] = isBuy ? [bench.quote, bench.base] : [bench.base, bench.quote]
  const had = [bench.balance(bench.trader, inMint), bench.balance(bench.trader, outMint)] as const
  if (amountIn > had[0]) return null
  const held = vaultsOf(bench, pool)
  const kept = structuredClone(pool)
  const product = of.product?.(pool, bench) ?? 0n
  const { given, ...decoded } = bench.runFor(bench.trader, (script) =>
    of.venue.swap(script, pool, { trader: bench.trader, isBuy, amountIn }, bench)
  )
  assert.deepEqual(decoded.notes, [])
  assert.ok(decoded.transaction.wire.length <= PACKET_BYTES)
  if (given === null) {
    assert.deepEqual(decoded.events, [])
    assert.deepEqual(pool, kept, 'a refused swap leaves the pool as it was')
    assert.deepEqual(vaultsOf(bench, pool), held)
    return null
  }
  const firstIn = samePubkey(pool.mints[0], inMint)
  const facts: SwapFacts = { ...given, isBuy, firstIn }
  const feeMint = (of.feeSide?.(facts, pool) ?? 'in') === 'in' ? inMint : outMint
  const expected = {
    kind: 'trade',
    venue: of.venue.venue,
    program: of.program,
    pool: pool.address,
    user: bench.trader,
    inMint,
    outMint,
    inDecimals: bench.ledger.mint(inMint).decimals,
    outDecimals: bench.ledger.mint(outMint).decimals,
    inAmount: given.amountIn,
    outAmount: given.amountOut,
    traderIn: given.amountIn,
    traderOut: given.amountOut,
    fees: (of.fees?.(facts, pool, kept) ?? [])
      .filter(({ amount }) => amount > 0n)
      .map(({ kind, amount }) => ({ kind, mint: feeMint, amount })),
    reserves: of.reserves?.(facts, pool, bench) ?? null,
    exact: of.exact === undefined ? 'in' : of.exact,
    route: null
  }
  const trades = decoded.events.map(withoutPlace)
  assert.deepEqual(trades, [plain(expected)])
  assert.equal(had[0] - bench.balance(bench.trader, inMint), given.amountIn, 'the trader paid it')
  assert.equal(bench.balance(bench.trader, outMint) - had[1], given.amountOut, 'the trader got it')
  assert.ok(given.amountIn <= amountIn && given.amountIn > 0n && given.amountOut > 0n)
  if (of.takesAll !== false) assert.equal(given.amountIn, amountIn)
  assert.ok(given.amountOut < held[firstIn ? 1 : 0], 'a pool is never emptied')
  assert.ok((of.product?.(pool, bench) ?? 0n) >= product, 'the product of the reserves did not fall')
  agrees(bench, of, pool)
  return decoded
}

/** Returns the number of events of the change: 1, or 0 if the change was impossible. */
function changes<Pool extends PoolFacts>(
  bench: PoolBench,
  of: PoolCase<Pool>,
  pool: Pool,
  by: Pubkey,
  thousandths: number
): number {
  const held = vaultsOf(bench, pool)
  const had = pool.mints.map((mint) => bench.balance(by, mint))
  const { events, notes, transaction } = bench.run(by, (script) =>
    of.venue.changeLiquidity!(script, pool, by, thousandths, bench)
  )
  assert.ok(transaction.wire.length <= PACKET_BYTES)
  assert.deepEqual(notes, [])
  const after = vaultsOf(bench, pool)
  const moved = [after[0] - held[0], after[1] - held[1]] as const
  assert.deepEqual(
    pool.mints.map((mint, side) => had[side]! - bench.balance(by, mint)),
    [...moved]
  )
  const changed = events as LiquidityChange[]
  if (moved[0] === 0n && moved[1] === 0n) assert.equal(events.length, 0)
  else {
    const adds = thousandths > 0
    assert.equal(events.length, 1)
    assert.equal(changed[0]!.event, adds ? 'add' : 'remove')
    assert.ok(samePubkey(changed[0]!.pool, pool.address) && samePubkey(changed[0]!.user, by))
    assert.deepEqual(plain([changed[0]!.baseMint, changed[0]!.quoteMint]), plain(pool.mints))
    const paidFees = adds
      ? [0n, 0n]
      : [-moved[0] - changed[0]!.baseAmount, -moved[1] - changed[0]!.quoteAmount]
    if (adds) assert.deepEqual([changed[0]!.baseAmount, changed[0]!.quoteAmount], [...moved])
    else
      assert.ok(
        of.venue.venue === 'raydium-clmm'
          ? paidFees.every((fee) => fee >= 0n)
          : paidFees.every((fee) => fee === 0n)
      )
  }
  agrees(bench, of, pool)
  return events.length
}

/**
 * Asserts that reserves cover the liquidity's value at the pool's price, with a small surplus: each change rounds in the
 * pool's favour.
 */
export function assertCovered(reserves: Two, worth: Two): void {
  for (const side of [0, 1] as const) {
    const more = reserves[side] - worth[side]
    const hardly = 1_000n + reserves[side] / 1_000_000n
    assert.ok(
      more >= 0n && more <= hardly,
      `reserve ${side} is ${reserves[side]}, liquidity is worth ${worth[side]}`
    )
  }
}

/** Asserts that vaults hold the amounts of the pool's accounts, and at most `slack` more. */
function agrees<Pool extends PoolFacts>(bench: PoolBench, of: PoolCase<Pool>, pool: Pool): void {
  const held = vaultsOf(bench, pool)
  const stated = of.stated?.(pool, bench) ?? held
  for (const side of [0, 1] as const) {
    const more = held[side] - stated[side]
    assert.ok(
      more >= 0n && more <= (of.slack ?? 0n),
      `vault ${side} holds ${held[side]}, accounts say ${stated[side]}`
    )
  }
}

export function vaultsOf(bench: PoolBench, { vaults }: PoolFacts): Two {
  return [bench.ledger.tokens(vaults[0]), bench.ledger.tokens(vaults[1])]
}

function liquidityOf(bench: PoolBench, { mints }: PoolFacts, event: 'add' | 'remove', amounts: Two) {
  return {
    kind: 'liquidity',
    event,
    baseMint: mints[0],
    quoteMint: mints[1],
    baseDecimals: bench.ledger.mint(mints[0]).decimals,
    quoteDecimals: bench.ledger.mint(mints[1]).decimals,
    baseAmount: amounts[0],
    quoteAmount: amounts[1],
    // No mint of the localnet has a transfer fee.
    traderBase: amounts[0],
    traderQuote: amounts[1]
  }
}

/** Removes the fields that follow from an event's place, and shares and positions, which venues name differently. */
function withoutPlace(event: object): unknown {
  const { ixIndex, innerIxIndex, lpAmount, position, vaults, ...rest } = event as Record<string, unknown>
  void [ixIndex, innerIxIndex, lpAmount, position, vaults]
  return plain(rest)
}
