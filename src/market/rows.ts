import type {
  CurveChange,
  EventOrigin,
  LiquidityChange,
  PoolChange,
  TradeFacts,
  TradeVaults
} from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { VenueId } from '../chain/venue-id.ts'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** The fields of every stored event. */
export interface RowOrigin extends EventOrigin {
  /** slot × 2^20 + position in the slot; for a trade, the position of its `trades:` copy. */
  readonly cursor: number
  readonly slot: number
  /** Unix seconds, of the block. */
  readonly blockTime: number
  readonly signature: Uint8Array
  readonly txIndex: number
  readonly feePayer: Pubkey
  readonly commitment: Commitment
}

/**
 * A trade as it is served under one mint. A trade without a cash side has two rows, one per mint, each with null cash
 * fields.
 */
export interface TradeRow extends RowOrigin, TradeFacts {
  /** The token that the row is listed under. */
  readonly mint: Pubkey
  /** Side that is cash; null if neither is. `in`: the trader spent cash, a buy. */
  readonly cashSide: 'in' | 'out' | null
  /** Cash per token in human units, from the raw amounts; null if neither side is cash. */
  readonly price: number | null
  /** USD value of one unit of the cash at the row's minute; null if unknown. */
  readonly cashUsd: number | null
  /** Whether the price counts for candles and the latest price. */
  readonly priceForming: boolean
  /** Only on the trade that gave its pool a vault, so that the rows determine the pools (`pools.ts`, P3). */
  readonly vaults?: TradeVaults
}

/** Liquidity, curve and pool events as stored. */
export type PoolEventRow = RowOrigin & { readonly body: LiquidityChange | CurveChange | PoolChange }

export type LaunchStatus = 'created' | 'trading' | 'graduated'

export interface LaunchRow extends RowOrigin {
  /** Unix milliseconds at which the source received the block. */
  readonly ingestedAtMs: number
  readonly mint: Pubkey
  readonly quoteMint: Pubkey
  readonly creator: Pubkey
  readonly name: string
  readonly symbol: string
  readonly uri: string
  readonly decimals: number | null
  readonly supply: bigint | null
  readonly curve: Pubkey
  readonly status: LaunchStatus
}

/** Intervals of which candles are stored. */
export const INTERVALS = ['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w'] as const
export type Interval = (typeof INTERVALS)[number]

/** Intervals whose candles are folded from rows on request. */
export const SECOND_INTERVALS = ['1s', '5s', '15s'] as const
export type SecondInterval = (typeof SECOND_INTERVALS)[number]
export type CandleInterval = SecondInterval | Interval

export interface Ohlc {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/**
 * One bucket of a pair. Sums are integers so that merging buckets is associative: a larger interval equals the
 * fold of its 1m buckets and the fold of the rows, to the bit.
 */
export interface Candle {
  /** Bucket start, unix seconds. */
  readonly ts: number
  /** From price-forming rows; null if the bucket has no such row. */
  readonly native: Ohlc | null
  readonly usd: Ohlc | null
  /** From all rows (`raw=1`). */
  readonly nativeRaw: Ohlc | null
  readonly usdRaw: Ohlc | null
  /** Base units of the token and of the cash. */
  readonly volumeToken: bigint
  readonly volumeCash: bigint
  /** Millionths of a USD, each row rounded on its own. */
  readonly volumeMicroUsd: bigint
  readonly trades: number
  readonly buys: number
  /** Trades without a USD value, which `volumeMicroUsd` lacks. Absent if zero, and in candles of earlier versions. */
  readonly unpriced?: number
}

/** The state of a (mint, cash) pair between blocks; stored with the block that changes it. */
export interface PairRow {
  readonly mint: Pubkey
  readonly cash: Pubkey
  readonly decimals: number
  readonly cashDecimals: number
  /** Up to 20 newest price-forming prices, oldest first. */
  readonly recent: readonly number[]
  /** Up to 3 newest excluded prices since the last price-forming one, oldest first. */
  readonly excluded: readonly number[]
  /** The newest price-forming row. */
  readonly last: LastPrice | null
}

export interface LastPrice {
  readonly cursor: number
  readonly slot: number
  readonly blockTime: number
  readonly signature: Uint8Array
  readonly venue: VenueId
  readonly pool: Pubkey
  readonly price: number
  readonly cashUsd: number | null
}

/** The SOL price of one minute of block time. */
export interface SolPriceRow {
  /** Minute start, unix seconds. */
  readonly minute: number
  readonly usd: number
  /** The minute whose trades gave it; null if it is the operator's starting value. */
  readonly sourceMinute: number | null
}

/** A committed slot. */
export interface SlotRow {
  readonly slot: number
  readonly blockTime: number
  readonly parentSlot: number | null
  /** Base58; null if the source did not state it, and for slots stored before hashes were recorded. */
  readonly blockhash: string | null
  readonly transactions: number
  readonly trades: number
  readonly events: number
  readonly receivedAtMs: number
}

/** A bucket of a pair after a block. */
export interface CandleUpsert {
  readonly mint: Pubkey
  readonly cash: Pubkey
  readonly interval: Interval
  readonly candle: Candle
}

export interface PairAddress {
  readonly mint: Pubkey
  readonly cash: Pubkey
}

export interface CandleAddress extends PairAddress {
  readonly interval: Interval
  readonly ts: number
}
