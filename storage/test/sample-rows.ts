import type {
  TradeVaults,
  CurveChange,
  EventOrigin,
  LiquidityChange,
  PoolChange,
  StatedCurve
} from '../../src/chain/events.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { PoolEventRow, RowOrigin, TradeRow } from '../../src/market/rows.ts'
import { sampleBytes } from './choices.ts'
import type { Choices } from './choices.ts'
import {
  SAMPLE_MINTS,
  SAMPLE_POOLS,
  SAMPLE_WALLETS,
  sampleCash,
  sampleMint,
  samplePool,
  sampleWallet
} from './sample-addresses.ts'

const FEE_KINDS = ['protocol', 'creator', 'lp', 'holder-rewards'] as const

export function tradedMint(choices: Choices): Pubkey {
  return sampleMint(Math.floor(SAMPLE_MINTS * choices.fraction() ** 4))
}

export function originAt(choices: Choices, slot: number, position: number, blockTime: number): RowOrigin {
  return {
    cursor: cursorAt(slot, position),
    slot,
    blockTime,
    signature: sampleBytes(64, choices.below(1e9)),
    txIndex: choices.below(3_000),
    ixIndex: choices.below(8),
    innerIxIndex: choices.chance(0.3) ? null : choices.below(40),
    venue: choices.of(VENUE_IDS),
    program: samplePool(100 + choices.below(3)),
    pool: samplePool(Math.floor(SAMPLE_POOLS * choices.fraction() ** 2)),
    user: sampleWallet(choices.below(SAMPLE_WALLETS)),
    feePayer: sampleWallet(choices.below(SAMPLE_WALLETS)),
    commitment: choices.of(['processed', 'confirmed', 'finalized'])
  }
}

export function sampleTrade(choices: Choices, origin: RowOrigin, mint: Pubkey): TradeRow {
  return {
    ...origin,
    mint,
    inMint: choices.chance(0.5) ? mint : sampleCash(0),
    outMint: choices.chance(0.5) ? mint : sampleCash(1),
    inDecimals: choices.below(10),
    outDecimals: choices.below(20),
    inAmount: choices.amount(),
    outAmount: choices.amount(),
    traderIn: choices.amount(),
    traderOut: choices.amount(),
    fees: Array.from({ length: choices.below(3) }, () => ({
      kind: choices.of(FEE_KINDS),
      mint: sampleCash(0),
      amount: choices.amount()
    })),
    reserves: choices.chance(0.4)
      ? null
      : {
          in: choices.amount(),
          out: choices.amount(),
          ...(choices.chance(0.5) ? { virtualIn: choices.amount() } : {}),
          ...(choices.chance(0.5) ? { virtualOut: choices.amount() } : {})
        },
    exact: choices.of(['in', 'out', null]),
    cashSide: choices.of(['in', 'out', null]),
    price: choices.chance(0.2) ? null : choices.fraction() * 10 ** (choices.below(30) - 15),
    cashUsd: choices.chance(0.2) ? null : 150 * choices.fraction(),
    priceForming: choices.chance(0.7),
    ...(origin.cursor % 3 === 0 ? { statedCurve: sampleStatedCurve(origin.cursor) } : {}),
    ...(origin.cursor % 5 === 0 ? { vaults: sampleVaults(origin.cursor) } : {}),
    route: choices.chance(0.5)
      ? null
      : { program: samplePool(200), ixIndex: choices.below(5), hop: 1 + choices.below(3), hops: 3 }
  }
}

export function samplePoolEvent(choices: Choices, origin: RowOrigin): PoolEventRow {
  const { venue, program, pool, ixIndex, innerIxIndex, user } = origin
  const event: EventOrigin = { venue, program, pool, ixIndex, innerIxIndex, user }
  return { ...origin, body: choices.of([sampleLiquidity, sampleCurve, samplePoolChange])(choices, event) }
}

function sampleLiquidity(choices: Choices, event: EventOrigin): LiquidityChange {
  const [baseAmount, quoteAmount] = [choices.amount(), choices.amount()]
  /** The trader's amount, derived from the vault's without a choice of its own: null, equal, or greater by one. */
  const traderOf = (amount: bigint): bigint | null => (amount % 4n === 0n ? null : amount + (amount % 2n))
  return {
    kind: 'liquidity',
    ...event,
    event: choices.of(['add', 'remove']),
    baseMint: sampleMint(0),
    quoteMint: sampleCash(0),
    baseDecimals: 6,
    quoteDecimals: 9,
    baseAmount,
    quoteAmount,
    traderBase: traderOf(baseAmount),
    traderQuote: traderOf(quoteAmount),
    lpAmount: choices.chance(0.5) ? null : choices.amount(),
    position: choices.chance(0.5) ? null : samplePool(7)
  }
}

/** Returns both vaults, or that of one side. */
function sampleVaults(cursor: number): TradeVaults {
  return {
    in: cursor % 3 === 1 ? null : samplePool(300 + (cursor % 7)),
    out: cursor % 3 === 2 ? null : samplePool(310 + (cursor % 7))
  }
}

/** Drawn from the cursor, so that the other fields of a sample stay as they were before a trade had these. */
function sampleStatedCurve(cursor: number): StatedCurve {
  const amount = BigInt(cursor)
  return {
    ...(cursor % 2 === 0 ? { forSale: amount } : {}),
    ...(cursor % 5 === 0 ? {} : { targetQuote: amount * 7n }),
    ...(cursor % 7 === 0 ? {} : { sqrtPrice: amount << 64n })
  }
}

function sampleCurve(choices: Choices, event: EventOrigin): CurveChange {
  return {
    kind: 'curve',
    ...event,
    event: choices.of(['create', 'complete', 'migrate']),
    baseMint: sampleMint(1),
    quoteMint: choices.chance(0.5) ? null : sampleCash(0),
    curve: samplePool(8),
    progressPct: choices.chance(0.3) ? null : choices.fraction() * 100,
    destination: choices.chance(0.5) ? null : samplePool(9),
    reserves: choices.chance(0.3)
      ? null
      : {
          ...(choices.chance(0.5) ? { realBase: choices.amount() } : {}),
          ...(choices.chance(0.5) ? { virtualQuote: choices.amount() } : {})
        },
    ...(event.ixIndex % 2 === 0 ? { targetQuote: BigInt(event.ixIndex) } : {})
  }
}

function samplePoolChange(choices: Choices, event: EventOrigin): PoolChange {
  return {
    kind: 'pool',
    ...event,
    event: choices.of(['create', 'update']),
    baseMint: sampleMint(2),
    quoteMint: sampleCash(1),
    baseVault: choices.chance(0.5) ? null : samplePool(10),
    quoteVault: choices.chance(0.5) ? null : samplePool(11),
    feeBps: choices.chance(0.3) ? null : choices.of([25, 0.5]),
    initialBase: choices.chance(0.5) ? null : choices.amount(),
    initialQuote: choices.chance(0.5) ? null : choices.amount()
  }
}
