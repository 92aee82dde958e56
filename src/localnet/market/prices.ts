import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { USDC } from '../programs.ts'
import { seededRandom } from './random.ts'

/** A token that was there before the market began, with a price in dollars. */
export interface ListedToken {
  readonly mint: Pubkey
  readonly symbol: string
  readonly decimals: number
  readonly usd: number
}

const SOL_USD = 150

/** Listed tokens by symbol, decimals and dollars; the first is worth one, as USDC is. */
const LISTED = [
  ['USDX', 6, 1],
  ['GRNT', 9, 0.82],
  ['PLUM', 6, 0.031],
  ['OTTER', 5, 0.000_024],
  ['KELP', 6, 1.74],
  ['FLINT', 8, 12.4],
  ['MOSS', 6, 0.000_9],
  ['QUAY', 9, 4.6]
] as const

/** The prices that pairs without a launch are held near to: pure functions of the seed and the slot. */
export class ReferencePrices {
  readonly listed: readonly ListedToken[]
  readonly #byMint = new Map<string, { readonly decimals: number; readonly at: (slot: number) => number }>()

  constructor(seed: string) {
    const random = seededRandom(`${seed}/prices`)
    const wave = (swing: number): ((slot: number) => number) => {
      const [slow, fast] = [random.next(), random.next()].map((phase) => phase * 2 * Math.PI) as [
        number,
        number
      ]
      return (slot) => Math.exp(swing * (Math.sin(slot / 2900 + slow) + 0.4 * Math.sin(slot / 370 + fast)))
    }
    this.listed = LISTED.map(([symbol, decimals, usd]) => ({ mint: random.bytes(32), symbol, decimals, usd }))
    for (const { mint, decimals, usd } of this.listed) {
      const moves = usd === 1 ? () => 1 : wave(0.06)
      this.#byMint.set(pubkeyMapKey(mint), { decimals, at: (slot) => usd * moves(slot) })
    }
    const moves = wave(0.025)
    this.#byMint.set(pubkeyMapKey(NATIVE_MINT), { decimals: 9, at: (slot) => SOL_USD * moves(slot) })
    this.#byMint.set(pubkeyMapKey(USDC), { decimals: 6, at: () => 1 })
  }

  /** Dollars of a raw unit; null for a coin without a price of its own. */
  rawUsd(mint: Pubkey, slot: number): number | null {
    const price = this.#byMint.get(pubkeyMapKey(mint))
    return price === undefined ? null : price.at(slot) / 10 ** price.decimals
  }

  /** Raw units of quote that a raw unit of base is worth. */
  pairPrice(base: Pubkey, quote: Pubkey, slot: number): number | null {
    const [baseUsd, quoteUsd] = [this.rawUsd(base, slot), this.rawUsd(quote, slot)]
    return baseUsd === null || quoteUsd === null ? null : baseUsd / quoteUsd
  }
}
