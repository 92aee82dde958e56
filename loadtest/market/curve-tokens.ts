import type { CurveReserves, TradeReserves } from '../../src/chain/events.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import { LAUNCHPADS } from './population.ts'
import type { Population } from './population.ts'
import type { Schedule } from './schedule.ts'
import { SeededRandom } from './random.ts'

const VIRTUAL_LAMPORTS = 30e9
const VIRTUAL_TOKENS = 1_073_000_000e6
const TOKENS_FOR_SALE = 793_100_000e6
const PRODUCT = VIRTUAL_LAMPORTS * VIRTUAL_TOKENS
const GRADUATION_LAMPORTS = 85e9
/** Lamports that a curve without graduation stays below. */
const PLATEAU_LAMPORTS = 60e9
/** Launched tokens with more trades than this graduate, about one in a hundred. */
const GRADUATING_TRADES = 2000

export type CurveStage = 'unborn' | 'bonding' | 'complete' | 'migrated'

/** Amounts of a trade on a curve in base units, and the curve's holdings after it. */
export interface CurveFill {
  readonly isBuy: boolean
  readonly lamports: bigint
  readonly tokens: bigint
  readonly completes: boolean
}

/**
 * The launched tokens' curves: constant products of 30 SOL and 1,073,000,000 tokens, like pump.fun's. A graduating curve
 * gains its 85 SOL over the first third of its trades; any other wanders.
 */
export class CurveTokens {
  readonly #raised: Float64Array
  readonly #stages: CurveStage[]
  readonly #launchpads: Uint8Array
  readonly #schedule: Schedule

  constructor(population: Population, schedule: Schedule) {
    const random = new SeededRandom(population.size.seed, 11)
    this.#schedule = schedule
    this.#raised = new Float64Array(population.launched)
    this.#stages = Array.from({ length: population.launched }, () => 'unborn')
    this.#launchpads = Uint8Array.from({ length: population.launched }, () => launchpadAt(random.unit()))
  }

  launchpadOf(token: number): { readonly venue: VenueId; readonly destination: VenueId } {
    return LAUNCHPADS[this.#launchpads[token]!]!
  }

  stageOf(token: number): CurveStage {
    return this.#stages[token]!
  }

  setStage(token: number, stage: CurveStage): void {
    this.#stages[token] = stage
  }

  /** SOL per token at the curve's present state. */
  priceOf(token: number): number {
    const lamports = VIRTUAL_LAMPORTS + this.#raised[token]!
    return (lamports * lamports) / PRODUCT / 1e3
  }

  trade(token: number, random: SeededRandom): CurveFill {
    const trades = this.#schedule.tradesOf[token]!
    const graduates = trades > GRADUATING_TRADES
    const raised = this.#raised[token]!
    const isBuy = raised < 1e7 || random.chance(graduates ? 0.65 : 0.52)
    const mean = graduates ? (GRADUATION_LAMPORTS * 10) / trades : 0.5e9
    const wanted = Math.max(1e5, Math.round(mean * random.exponential()))
    const ceiling = graduates ? GRADUATION_LAMPORTS : PLATEAU_LAMPORTS
    const after = isBuy ? Math.min(ceiling, raised + wanted) : Math.max(0, raised - wanted)
    // At its plateau a curve is bought for the least amount.
    const lamports = Math.max(1e5, Math.abs(after - raised))
    const next = isBuy ? raised + lamports : raised - lamports
    this.#raised[token] = next
    return {
      isBuy,
      lamports: BigInt(lamports),
      tokens: BigInt(Math.max(1, Math.abs(Math.round(tokensAt(next) - tokensAt(raised))))),
      completes: graduates && next >= GRADUATION_LAMPORTS
    }
  }

  /**
   * Returns the reserves that the launchpad emits after a trade; each launchpad emits the fields that it has on the
   * chain.
   */
  tradeReserves(token: number, isBuy: boolean): TradeReserves | null {
    const { realBase, realQuote, virtualBase, virtualQuote } = this.reserves(token)
    switch (this.launchpadOf(token).venue) {
      case 'moonshot':
        return null
      case 'meteora-dbc':
        return isBuy ? { in: realQuote } : { out: realQuote }
      default:
        return isBuy
          ? { in: realQuote, out: realBase, virtualIn: virtualQuote, virtualOut: virtualBase }
          : { in: realBase, out: realQuote, virtualIn: virtualBase, virtualOut: virtualQuote }
    }
  }

  reserves(token: number): Required<CurveReserves> {
    const raised = this.#raised[token]!
    const virtualBase = Math.round(tokensAt(raised))
    return {
      realBase: BigInt(Math.max(0, Math.round(TOKENS_FOR_SALE - (VIRTUAL_TOKENS - virtualBase)))),
      realQuote: BigInt(raised),
      virtualBase: BigInt(virtualBase),
      virtualQuote: BigInt(VIRTUAL_LAMPORTS + raised)
    }
  }
}

function tokensAt(raised: number): number {
  return PRODUCT / (VIRTUAL_LAMPORTS + raised)
}

function launchpadAt(unit: number): number {
  let below = 0
  for (const [index, { share }] of LAUNCHPADS.entries()) {
    below += share
    if (unit < below) return index
  }
  return 0
}
