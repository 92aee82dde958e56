import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import { VENUES } from '../../src/chain/venues.ts'
import { USDC, USDT, WSOL } from '../../src/market/cash.ts'
import { SeededRandom, WeightedChoice } from './random.ts'

/** The size of a synthetic market. Equal sizes and seeds give equal markets, to the byte. */
export interface MarketSize {
  readonly seed: number
  readonly trades: number
  readonly mints: number
  readonly wallets: number
}

/** Returns the market that the bars are stated for, scaled to a number of trades. */
export function marketOf(trades: number, seed = 1): MarketSize {
  return {
    seed,
    trades,
    mints: Math.max(100, Math.round(trades / 200)),
    wallets: Math.max(400, Math.round(trades / 25))
  }
}

export interface SyntheticPool {
  readonly address: Pubkey
  readonly venue: VenueId
  /** The other mint of the pool: cash, or another token for a swap pool. */
  readonly quote: Pubkey
}

export const SOL = pubkeyFromBase58(WSOL)
export const USD_COIN = pubkeyFromBase58(USDC)
export const TETHER = pubkeyFromBase58(USDT)

/** Shares of all trades on mainnet, in the recorded block: SOL for dollars, and without a cash side. */
export const SOL_SHARE = 0.12
export const SWAP_SHARE = 0.05
/** Share of mints that are launched within the market's span, and their share of the trades. */
export const LAUNCHED_MINTS = 0.4
export const LAUNCHED_SHARE = 0.45

const AMM_VENUES: readonly VenueId[] = [
  'raydium-amm-v4',
  'meteora-dlmm',
  'orca-whirlpool',
  'raydium-clmm',
  'pumpswap',
  'meteora-damm-v2',
  'raydium-cpmm',
  'meteora-damm-v1',
  'lifinity',
  'phoenix',
  'raydium-stable'
]
/** A launchpad's venue, the venue of its migrations, and its share of launches in 2026, rounded. */
export const LAUNCHPADS = [
  { venue: 'pumpfun', destination: 'pumpswap', share: 0.7 },
  { venue: 'raydium-launchlab', destination: 'raydium-cpmm', share: 0.13 },
  { venue: 'meteora-dbc', destination: 'meteora-damm-v2', share: 0.12 },
  { venue: 'moonshot', destination: 'raydium-amm-v4', share: 0.05 }
] as const

const ADDRESS = { mint: 1, pool: 2, wallet: 3, swapPool: 4 } as const

/**
 * The mints, pools and wallets of a synthetic market, and the distributions by which they are drawn.
 *
 * Mint 0 is SOL, listed as a token against dollars. The next ones exist before the first block; their trades follow Zipf's
 * law with exponent 1. The last two fifths are launched within the span: the number of their trades is Pareto-distributed
 * (exponent 1.1, the largest 2,000 times the least), their ages exponential. Two fifths of the trades are made by bots (one
 * wallet in a thousand, the first far ahead), the others by a long tail of wallets.
 */
export class Population {
  readonly size: MarketSize
  readonly standing: number
  readonly launched: number
  readonly #mints: Pubkey[]
  readonly #wallets: Pubkey[] = []
  readonly #standingChoice: WeightedChoice
  readonly #bots: number

  constructor(size: MarketSize) {
    this.size = size
    this.launched = Math.floor(size.mints * LAUNCHED_MINTS)
    this.standing = size.mints - this.launched
    this.#mints = Array.from({ length: size.mints }, (_, i) =>
      i === 0 ? SOL : this.#address(ADDRESS.mint, i)
    )
    this.#standingChoice = new WeightedChoice(
      Float64Array.from({ length: this.standing - 1 }, (_, i) => 1 / (i + 1))
    )
    this.#bots = Math.max(10, Math.floor(size.wallets / 1000))
  }

  mint(index: number): Pubkey {
    return this.#mints[index]!
  }

  /** Decimals of a mint: 9 for SOL and a quarter of the standing tokens, 6 for all others. */
  decimals(index: number): number {
    return index < this.standing && index % 4 === 0 ? 9 : 6
  }

  wallet(index: number): Pubkey {
    return (this.#wallets[index] ??= this.#address(ADDRESS.wallet, index))
  }

  drawStanding(random: SeededRandom): number {
    return 1 + this.#standingChoice.draw(random)
  }

  drawWallet(random: SeededRandom): Pubkey {
    return this.wallet(
      random.chance(0.4)
        ? Math.floor(this.#bots * random.unit() ** 3)
        : Math.floor(this.size.wallets * random.unit() ** 1.5)
    )
  }

  /** The pools of a standing mint, the busiest first: twelve of SOL, six to one of the others by rank. */
  poolsOf(mint: number): readonly SyntheticPool[] {
    const count = mint === 0 ? 12 : mint <= 50 ? 6 : mint <= 500 ? 3 : mint <= 5000 ? 2 : 1
    return Array.from({ length: count }, (_, place) => this.#pool(mint, place))
  }

  /** The pool of a launched token's migration, and a second one that a user opens. */
  poolsAfterCurve(mint: number, destination: VenueId): readonly SyntheticPool[] {
    return [destination, 'meteora-dlmm' as const].map((venue, place) => ({
      address: this.#address(ADDRESS.pool, mint * 16 + place),
      venue,
      quote: SOL
    }))
  }

  /** The curve of a launched token. */
  curveOf(mint: number): Pubkey {
    return this.#address(ADDRESS.pool, mint * 16 + 15)
  }

  /** The pool of two tokens, neither of them cash. */
  swapPool(a: number, b: number): Pubkey {
    return this.#address(ADDRESS.swapPool, a * 2 ** 16 + b)
  }

  #pool(mint: number, place: number): SyntheticPool {
    const quote =
      mint === 0 ? (place % 4 === 3 ? TETHER : USD_COIN) : place === 1 ? USD_COIN : place === 3 ? TETHER : SOL
    const address = this.#address(ADDRESS.pool, mint * 16 + place)
    return { address, venue: AMM_VENUES[(mint * 7 + place) % AMM_VENUES.length]!, quote }
  }

  #address(kind: number, index: number): Pubkey {
    return new SeededRandom(this.size.seed, kind, index).bytes(32)
  }
}

const PROGRAMS = new Map(VENUES.map(({ id, programs }) => [id, pubkeyFromBase58(programs[0]!)]))

export function programOf(venue: VenueId): Pubkey {
  return PROGRAMS.get(venue)!
}
