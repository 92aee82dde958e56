import type { Pubkey } from '../../src/chain/pubkey.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { CurveRow, PoolRow, TokenRow } from '../../src/market/registry-rows.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { Choices, sampleBytes } from './choices.ts'
import { sampleUsd } from './sample-activity.ts'
import { FIRST_SLOT, sampleCash, sampleMint, samplePool, slotAt, timeAt } from './sample-addresses.ts'

const HOUR = 3_600

export function sampleToken(choices: Choices, mint: Pubkey, last: TradeRow): TokenRow {
  const { cursor, slot, blockTime, signature } = last
  return {
    mint,
    decimals: choices.chance(0.2) ? null : choices.below(10),
    firstCursor: cursorAt(FIRST_SLOT, choices.below(100)),
    firstTime: blockTime - choices.below(10_000),
    trades: choices.below(1e6),
    pools: choices.below(20),
    lastTrade: choices.chance(0.2) ? null : { cursor, slot, blockTime, signature },
    lastUsd: choices.chance(0.3) ? null : sampleUsd(choices),
    // Drawn from the cursor, so that the other fields stay as they were before a token had these.
    ...(cursor % 3 > 0 && {
      activeHours: {
        from: cursor % 3 === 1 ? 0 : HOUR * (cursor % 500_000),
        newest: HOUR * (cursor % 600_000),
        bits: cursor % 2 ** 32
      }
    })
  }
}

/** The pool that the block at an index is the first to name, as a later block may know it. */
export function sampleListedPool(choices: Choices, index: number): PoolRow {
  const optional = <T>(value: T): T | null => (choices.chance(0.4) ? null : value)
  const facts = new Choices(60_000 + index)
  const blockTime = timeAt(index)
  return {
    pool: samplePool(60_000 + index),
    venue: facts.of(VENUE_IDS),
    program: samplePool(100),
    base: sampleMint(facts.below(3)),
    quote: facts.chance(0.5) ? sampleCash(0) : sampleMint(3 + facts.below(2)),
    quoteListed: facts.chance(0.4),
    baseDecimals: optional(choices.below(10)),
    quoteDecimals: optional(choices.below(10)),
    baseVault: optional(samplePool(10)),
    quoteVault: optional(samplePool(11)),
    feeBps: optional(choices.of([25, 0.5])),
    created: optional({ slot: slotAt(index), blockTime }),
    firstCursor: cursorAt(slotAt(index), facts.below(1_000)),
    trades: choices.below(1e6),
    ...sampleLastTrade(choices, index)
  }
}

function sampleLastTrade(
  choices: Choices,
  index: number
): Pick<PoolRow, 'lastTrade' | 'lastPrice' | 'reserves'> {
  const price = { price: choices.fraction(), cashUsd: 150 * choices.fraction() }
  const lastPrice = choices.chance(0.4) ? null : choices.chance(0.4) ? { ...price, cashUsd: null } : price
  if (choices.chance(0.4)) return { lastTrade: null, lastPrice: null, reserves: null }
  const [slot, blockTime] = [slotAt(index), timeAt(index)]
  const reserves = choices.chance(0.4)
    ? null
    : { base: BigInt(choices.below(1e15)), quote: BigInt(choices.below(1e15)) }
  return { lastTrade: { cursor: cursorAt(slot, 1_000), slot, blockTime }, lastPrice, reserves }
}

export function sampleCurveOf(choices: Choices, mint: Pubkey, last: TradeRow): CurveRow {
  const optional = <T>(value: T): T | null => (choices.chance(0.4) ? null : value)
  const { cursor, slot, blockTime } = last
  return {
    mint,
    platform: choices.of(VENUE_IDS),
    curve: samplePool(8),
    quote: optional(sampleCash(0)),
    decimals: optional(6),
    quoteDecimals: optional(9),
    status: choices.of(['bonding', 'graduating', 'graduated']),
    progressPct: optional(choices.fraction() * 100),
    reserves: {
      ...(choices.chance(0.5) ? { realBase: BigInt(choices.below(1e15)) } : {}),
      ...(choices.chance(0.5) ? { realQuote: BigInt(choices.below(1e15)) } : {}),
      ...(choices.chance(0.5) ? { virtualBase: BigInt(choices.below(1e15)) } : {}),
      ...(choices.chance(0.5) ? { virtualQuote: BigInt(choices.below(1e15)) } : {})
    },
    forSale: slot % 2 === 0 ? null : BigInt(slot),
    targetQuote: optional(BigInt(choices.below(1e15))),
    price: optional(choices.fraction()),
    cashUsd: optional(choices.fraction()),
    creator: optional(samplePool(9)),
    created: optional({ slot, blockTime }),
    graduated: optional({
      slot,
      blockTime,
      signature: sampleBytes(64, choices.below(1e9)),
      pool: optional(samplePool(1))
    }),
    cursor,
    slot,
    blockTime
  }
}
