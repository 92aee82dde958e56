import type { CurveChange, EventOrigin, LiquidityChange, PoolChange } from '../../src/chain/events.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { INTERVALS } from '../../src/market/rows.ts'
import type {
  Candle,
  LaunchRow,
  LaunchStatus,
  Ohlc,
  PairRow,
  PoolEventRow,
  RowOrigin,
  TradeRow
} from '../../src/market/rows.ts'
import type { BlockCommit, CandleUpsert, KeyRow, TenantRow } from '../port.ts'

/** Slots are not dense on the chain: every third is missing here. */
export const FIRST_SLOT = 400_000_000
const FIRST_TIME = 1_760_000_000
const FEE_KINDS = ['protocol', 'creator', 'lp', 'holder-rewards'] as const
const U64_MAX = 2n ** 64n - 1n

export const sampleMint = (n: number): Pubkey => sampleBytes(32, 1_000 + n)
export const samplePool = (n: number): Pubkey => sampleBytes(32, 2_000 + n)
export const sampleCash = (n: number): Pubkey => sampleBytes(32, 3_000 + n)
export const slotAt = (index: number): number => FIRST_SLOT + index + Math.floor(index / 2)

/** Mints that trade in sample blocks; the first takes nearly half of all rows, the last ones few. */
export const SAMPLE_MINTS = 12
export const SAMPLE_POOLS = 4
export const SAMPLE_CASHES = 2

/** A repeatable source of choices. */
export class Choices {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, without, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(end: number): number {
    return Math.floor(this.fraction() * end)
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** Amounts of every size, the greatest among them. */
  amount(): bigint {
    if (this.chance(0.05)) return this.of([0n, U64_MAX, 2n ** 53n, 2n ** 49n, 2n ** 53n - 1n])
    return BigInt(Math.floor(2 ** (this.fraction() * 53)))
  }
}

export function sampleBytes(length: number, seed: number): Uint8Array {
  const choices = new Choices(seed)
  return Uint8Array.from({ length }, () => choices.below(256))
}

/** The block at an index of a seed's series; the same each time, and of no other state than both numbers. */
export function sampleBlock(seed: number, index: number): BlockCommit {
  const choices = new Choices(seed * 7_919 + index)
  const slot = slotAt(index)
  const blockTime = FIRST_TIME + index * 25
  const rows = Array.from({ length: choices.below(14) }, (_, i) =>
    sampleTrade(choices, originAt(choices, slot, i * 4, blockTime), tradedMint(choices))
  )
  const poolEvents = Array.from({ length: choices.below(5) }, (_, i) =>
    samplePoolEvent(choices, originAt(choices, slot, 100 + i, blockTime))
  )
  const touched = new Map(rows.map((row) => [row.mint.join(), row.mint]))
  const pairs = [...touched.values()].map((mint) => ({
    mint,
    cash: sampleCash(choices.below(SAMPLE_CASHES))
  }))
  return {
    slot: {
      slot,
      blockTime,
      parentSlot: choices.chance(0.1) ? null : slot - 1,
      transactions: choices.below(2_000),
      trades: rows.length,
      events: rows.length + poolEvents.length,
      receivedAtMs: blockTime * 1_000 + choices.below(5_000)
    },
    trades: rows,
    poolEvents,
    candles: pairs.flatMap((pair) => sampleUpserts(choices, pair, blockTime)),
    launches: launchesAt(seed, index),
    pairs: pairs.map((pair) => samplePair(choices, pair, rows.at(-1)!)),
    solPrice:
      index % 3 === 0
        ? {
            minute: blockTime - (blockTime % 60),
            usd: 100 + choices.fraction(),
            sourceMinute: choices.chance(0.5) ? null : blockTime - 60
          }
        : null,
    activity: [],
    tokens: [],
    pools: [],
    curves: [],
    totals: null
  }
}

/** A block of so many trades of one mint and nothing else. */
export function blockOfTrades(index: number, mint: Pubkey, count: number): BlockCommit {
  const choices = new Choices(index)
  const slot = slotAt(index)
  const blockTime = FIRST_TIME + index
  const origin = (i: number): RowOrigin => originAt(choices, slot, i * 4, blockTime)
  return {
    ...emptyBlock(index),
    trades: Array.from({ length: count }, (_, i) => sampleTrade(choices, origin(i), mint))
  }
}

export function emptyBlock(index: number): BlockCommit {
  const slot = slotAt(index)
  return {
    slot: {
      slot,
      blockTime: FIRST_TIME + index,
      parentSlot: slot - 1,
      transactions: 0,
      trades: 0,
      events: 0,
      receivedAtMs: 1
    },
    trades: [],
    poolEvents: [],
    candles: [],
    launches: [],
    pairs: [],
    solPrice: null,
    activity: [],
    tokens: [],
    pools: [],
    curves: [],
    totals: null
  }
}

export function sampleLaunch(seed: number, index: number, status: LaunchStatus): LaunchRow {
  const choices = new Choices(seed * 104_729 + index)
  return {
    ...originAt(choices, slotAt(index), 500, FIRST_TIME + index * 25),
    ingestedAtMs: (FIRST_TIME + index * 25) * 1_000 + 3,
    mint: sampleBytes(32, 50_000 + index),
    quoteMint: sampleCash(0),
    creator: samplePool(choices.below(9)),
    name: choices.of(['Ünïcode 🚀 coin', '', 'plain']),
    symbol: 'SYM',
    uri: 'https://example.org/' + index,
    decimals: choices.chance(0.3) ? null : 6,
    supply: choices.chance(0.3) ? null : choices.amount(),
    curve: samplePool(choices.below(9)),
    status
  }
}

export function sampleCandle(choices: Choices, ts: number): Candle {
  const prices = (): Ohlc => ({
    open: choices.fraction(),
    high: choices.fraction() * 1e9,
    low: choices.fraction() * 1e-12,
    close: choices.fraction()
  })
  const native = choices.chance(0.2) ? null : prices()
  const usd = choices.chance(0.3) ? null : prices()
  return {
    ts,
    native,
    usd,
    nativeRaw: choices.chance(0.2) ? null : choices.chance(0.5) && native !== null ? { ...native } : prices(),
    usdRaw: choices.chance(0.3) ? null : choices.chance(0.5) && usd !== null ? { ...usd } : prices(),
    volumeToken: choices.amount() * choices.amount(),
    volumeCash: choices.amount(),
    volumeMicroUsd: choices.amount(),
    trades: choices.below(1_000),
    buys: choices.below(500)
  }
}

export function sampleKey(n: number): KeyRow {
  return {
    id: `key-${n}`,
    hash: sampleBytes(32, 70_000 + n),
    prefix: `mr_${n}`,
    tenant: `tenant-${n % 3}`,
    name: `key number ${n}`,
    scopes: n % 2 === 0 ? ['data:read', 'stream:read'] : [],
    createdAtMs: FIRST_TIME * 1_000 + n,
    ratePerMinute: n % 2 === 0 ? null : 60 * n,
    expiresAtMs: n % 3 === 0 ? null : FIRST_TIME * 2_000 + n,
    revokedAtMs: n % 5 === 0 ? FIRST_TIME * 1_500 : null,
    allowedIps: n % 2 === 0 ? [] : ['10.0.0.0/8', '::1'],
    corsOrigins: n % 3 === 0 ? ['https://example.org'] : [],
    successor: n % 4 === 0 ? `key-${n + 1}` : null
  }
}

export function sampleTenant(n: number): TenantRow {
  return { name: `tenant-${n}`, createdAtMs: FIRST_TIME * 1_000 + n }
}

/** A launch every fourth block, trading two blocks later, every second of them graduated four blocks after that. */
function launchesAt(seed: number, index: number): LaunchRow[] {
  const launches: LaunchRow[] = []
  if (index >= 6 && (index - 6) % 8 === 0) launches.push(sampleLaunch(seed, index - 6, 'graduated'))
  if (index >= 2 && (index - 2) % 4 === 0) launches.push(sampleLaunch(seed, index - 2, 'trading'))
  if (index % 4 === 0) launches.push(sampleLaunch(seed, index, 'created'))
  return launches
}

function tradedMint(choices: Choices): Pubkey {
  return sampleMint(Math.floor(SAMPLE_MINTS * choices.fraction() ** 4))
}

function originAt(choices: Choices, slot: number, position: number, blockTime: number): RowOrigin {
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
    user: sampleBytes(32, choices.below(50)),
    feePayer: sampleBytes(32, choices.below(50)),
    commitment: choices.of(['processed', 'confirmed', 'finalized'])
  }
}

function sampleTrade(choices: Choices, origin: RowOrigin, mint: Pubkey): TradeRow {
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
    route: choices.chance(0.5)
      ? null
      : { program: samplePool(200), ixIndex: choices.below(5), hop: 1 + choices.below(3), hops: 3 }
  }
}

function samplePoolEvent(choices: Choices, origin: RowOrigin): PoolEventRow {
  const { venue, program, pool, ixIndex, innerIxIndex, user } = origin
  const event: EventOrigin = { venue, program, pool, ixIndex, innerIxIndex, user }
  return { ...origin, body: choices.of([sampleLiquidity, sampleCurve, samplePoolChange])(choices, event) }
}

function sampleLiquidity(choices: Choices, event: EventOrigin): LiquidityChange {
  return {
    kind: 'liquidity',
    ...event,
    event: choices.of(['add', 'remove']),
    baseMint: sampleMint(0),
    quoteMint: sampleCash(0),
    baseDecimals: 6,
    quoteDecimals: 9,
    baseAmount: choices.amount(),
    quoteAmount: choices.amount(),
    lpAmount: choices.chance(0.5) ? null : choices.amount(),
    position: choices.chance(0.5) ? null : samplePool(7)
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
        }
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

/** The bucket of the block in each interval and, now and then, one that has passed. */
function sampleUpserts(
  choices: Choices,
  pair: { readonly mint: Pubkey; readonly cash: Pubkey },
  blockTime: number
): CandleUpsert[] {
  const seconds = [60, 300, 900, 1_800, 3_600, 14_400, 86_400, 604_800]
  return INTERVALS.flatMap((interval, i) => {
    const current = blockTime - (blockTime % seconds[i]!)
    const times = choices.chance(0.2) ? [current - seconds[i]! * choices.below(90), current] : [current]
    return times.map((ts) => ({ ...pair, interval, candle: sampleCandle(choices, ts) }))
  })
}

function samplePair(
  choices: Choices,
  pair: { readonly mint: Pubkey; readonly cash: Pubkey },
  last: TradeRow
): PairRow {
  const { cursor, slot, blockTime, signature, venue, pool } = last
  return {
    ...pair,
    decimals: choices.below(10),
    cashDecimals: 9,
    recent: Array.from({ length: choices.below(21) }, () => choices.fraction()),
    excluded: Array.from({ length: choices.below(4) }, () => choices.fraction()),
    last: choices.chance(0.2)
      ? null
      : {
          cursor,
          slot,
          blockTime,
          signature,
          venue,
          pool,
          price: choices.fraction(),
          cashUsd: choices.chance(0.5) ? null : 1
        }
  }
}
