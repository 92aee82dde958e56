import type { Pubkey } from './pubkey.ts'
import type { VenueId } from './venue-id.ts'

/**
 * The decoder's output: facts of the chain as raw integers and key bytes, without prices or money values. Kinds and
 * fields are those of the wire (src/docs/stream.md); every amount was executed (INVARIANTS 1).
 */
export type ChainEvent = Trade | LiquidityChange | Launch | CurveChange | PoolChange

export type EventKind = ChainEvent['kind']

/** The position of an event in its transaction, and the user who caused it. */
export interface EventOrigin {
  readonly venue: VenueId
  readonly program: Pubkey
  /** The pool, curve or market account. */
  readonly pool: Pubkey
  /** Index of the outer instruction. */
  readonly ixIndex: number
  /**
   * Index in the outer instruction's inner group; null for the outer instruction itself. If one instruction settles
   * several trades, each but the first has the index of the inner instruction that moved or stated its input. So
   * signature, ixIndex and innerIxIndex identify one event of a kind.
   */
  readonly innerIxIndex: number | null
  readonly user: Pubkey
}

/** The facts of a fill, which a trade shares with each row that lists it. */
export interface TradeFacts {
  readonly inMint: Pubkey
  readonly outMint: Pubkey
  readonly inDecimals: number
  readonly outDecimals: number
  /** The fill in base units: the amounts that trader and pool exchanged at the pool's price. */
  readonly inAmount: bigint
  readonly outAmount: bigint
  /** Amounts that left and reached the trader's accounts for this fill, all fees included. */
  readonly traderIn: bigint
  readonly traderOut: bigint
  readonly fees: readonly Fee[]
  /** Reserves of the pool after the trade; null if the venue does not state them. */
  readonly reserves: TradeReserves | null
  readonly exact: 'in' | 'out' | null
  /** Facts of the bonding curve that the venue states with the trade, besides its reserves; absent if not stated. */
  readonly statedCurve?: StatedCurve
  /** The fill's leg in a route: an aggregator's instruction, or the venue's own multi-hop; null outside a route. */
  readonly route: RouteLeg | null
  /** Sum of the UNSTATED bits of an imported trade; absent for decoded trades, and if the file states all facts. */
  readonly unstated?: number
}

/** Facts that the file of an imported trade may lack, as bits. Stored; a bit never changes its meaning. */
export const UNSTATED = { slot: 1, txIndex: 2, ixIndex: 4, pool: 8, user: 16, feePayer: 32 } as const

/** Placeholder of an unstated address: the system program, which is no pool, no trader and no fee payer. */
export const UNSTATED_ADDRESS: Pubkey = new Uint8Array(32)

/** Returns whether the file of an imported trade lacks a fact. */
export const isUnstated = (of: Pick<TradeFacts, 'unstated'>, fact: keyof typeof UNSTATED): boolean =>
  of.unstated !== undefined && (of.unstated & UNSTATED[fact]) !== 0

export interface Trade extends EventOrigin, TradeFacts {
  readonly kind: 'trade'
  /** The pool's token accounts; absent if the instruction names neither. */
  readonly vaults?: TradeVaults
  /** USD per SOL as the file of an imported trade states it; absent otherwise. */
  readonly solUsd?: number
}

/** The token accounts of a pool that took a trade's input and gave its output. */
export interface TradeVaults {
  /** Null if the pool has no token account for the side, or the instruction does not name it. */
  readonly in: Pubkey | null
  readonly out: Pubkey | null
}

/** Returns the facts of a trade or of a trade's row, without its other fields. */
export function tradeFacts(of: TradeFacts): TradeFacts {
  const { inMint, outMint, inDecimals, outDecimals, inAmount, outAmount, traderIn, traderOut } = of
  const { fees, reserves, exact, statedCurve, route, unstated } = of
  const fill = { inMint, outMint, inDecimals, outDecimals, inAmount, outAmount, traderIn, traderOut }
  const curve = statedCurve !== undefined && { statedCurve }
  return { ...fill, fees, reserves, exact, ...curve, route, ...(unstated !== undefined && { unstated }) }
}

export interface Fee {
  readonly kind:
    | 'protocol'
    | 'platform'
    | 'creator'
    | 'share'
    | 'referral'
    | 'host'
    | 'cashback'
    | 'holder-rewards'
    | 'trading'
    | 'lp'
    | 'transfer'
  readonly mint: Pubkey
  readonly amount: bigint
}

export interface TradeReserves {
  readonly in?: bigint
  readonly out?: bigint
  /** Virtual reserves of a bonding curve. */
  readonly virtualIn?: bigint
  readonly virtualOut?: bigint
}

/** Facts of a bonding curve after a trade. */
export interface StatedCurve {
  /** Tokens for sale at the start, in base units. */
  readonly forSale?: bigint
  /** Quote in base units that completes the curve. */
  readonly targetQuote?: bigint
  /** Square root of the price of the next token, quote per token in base units, times 2^64. */
  readonly sqrtPrice?: bigint
}

export interface RouteLeg {
  /** The program whose instruction routes. */
  readonly program: Pubkey
  /** Index of the outer instruction that is the route. */
  readonly ixIndex: number
  /** 1-based position among the route's fills, and their number. */
  readonly hop: number
  readonly hops: number
}

export interface LiquidityChange extends EventOrigin {
  readonly kind: 'liquidity'
  readonly event: 'add' | 'remove'
  /** Null for the unchanged side of a one-sided change, if the transaction does not name its token. */
  readonly baseMint: Pubkey | null
  readonly quoteMint: Pubkey | null
  /** Null only if the amount is zero. */
  readonly baseDecimals: number | null
  readonly quoteDecimals: number | null
  /** Amounts in base units that the pool's vaults received or paid (src/docs/stream.md). */
  readonly baseAmount: bigint
  readonly quoteAmount: bigint
  /**
   * Amounts in base units that left or reached the provider's accounts. They differ from the vaults' amounts only by
   * a Token-2022 transfer fee; null if the transaction does not show that fee.
   */
  readonly traderBase: bigint | null
  readonly traderQuote: bigint | null
  readonly lpAmount: bigint | null
  readonly position: Pubkey | null
}

export interface Launch extends EventOrigin {
  readonly kind: 'launch'
  readonly event: 'create'
  readonly baseMint: Pubkey
  readonly quoteMint: Pubkey
  readonly name: string
  readonly symbol: string
  readonly uri: string
  readonly creator: Pubkey
  readonly decimals: number | null
  readonly supply: bigint | null
  readonly curve: Pubkey
}

export interface CurveChange extends EventOrigin {
  readonly kind: 'curve'
  readonly event: 'create' | 'complete' | 'migrate'
  readonly baseMint: Pubkey
  readonly quoteMint: Pubkey | null
  readonly curve: Pubkey
  /** 0 to 100; null if the event does not state enough to know it. */
  readonly progressPct: number | null
  /** The pool that a migration leads to. */
  readonly destination: Pubkey | null
  readonly reserves: CurveReserves | null
  /** Quote in base units that completes the curve, if the venue states it at the creation; otherwise absent. */
  readonly targetQuote?: bigint
}

export interface CurveReserves {
  readonly realBase?: bigint
  readonly realQuote?: bigint
  readonly virtualBase?: bigint
  readonly virtualQuote?: bigint
}

export interface PoolChange extends EventOrigin {
  readonly kind: 'pool'
  readonly event: 'create' | 'update'
  readonly baseMint: Pubkey
  readonly quoteMint: Pubkey
  readonly baseVault: Pubkey | null
  readonly quoteVault: Pubkey | null
  readonly feeBps: number | null
  readonly initialBase: bigint | null
  readonly initialQuote: bigint | null
}
