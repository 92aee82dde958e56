import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { USDC } from '../programs.ts'
import { seededRandom } from './random.ts'
import type { SeededRandom } from './venue.ts'

/** A token that exists before the market begins, with a price in dollars. */
export interface ListedToken {
  readonly mint: Pubkey
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly usd: number
  /** Worth in dollars that each maker and arbitrageur begins with: a tenth of nearly all that is in circulation. */
  readonly makerUsd: number
}

const SOL_USD = 150

/**
 * Listed tokens: symbol, name, decimals, dollars, and what each of the ten makers begins with. The first is worth one dollar,
 * like USDC. The pools of a token take at most 4 million from one maker.
 */
const LISTED = [
  ['USDX', 'Crossing Dollar', 6, 1, 64_000_000],
  ['GRNT', 'Granite', 9, 0.82, 41_000_000],
  ['PLUM', 'Plum Protocol', 6, 0.031, 12_000_000],
  ['OTTER', 'River Otter', 5, 0.000_024, 8_500_000],
  ['KELP', 'Kelp Forest', 6, 1.74, 23_000_000],
  ['FLINT', 'Flint & Steel', 8, 12.4, 30_000_000],
  ['MOSS', 'Moss', 6, 0.000_9, 9_500_000],
  ['QUAY', 'Quayside', 9, 4.6, 17_000_000]
] as const

/**
 * Swing of a token's price: the largest move by one octave, as a logarithm. A price stays within twice its swing
 * around the listed price. So a pair of two tokens stays within the 17 % that the bins of a meteora-dlmm pool span.
 */
const SOL_SWING = 0.022
const LISTED_SWING = 0.05

/**
 * Slots of the slowest octave: a day at 400 ms. Each further octave is three times as fast; the last takes 40 seconds.
 */
const SLOWEST_SLOTS = 216_000
const OCTAVES = 8
/** Factor from one octave to the next: slightly smoother than a random walk, whose factor is 0.58. */
const FALL = 0.5

/**
 * Reference prices of listed tokens, near which arbitrage holds their pairs: pure functions of the seed and the slot.
 */
export class ReferencePrices {
  readonly listed: readonly ListedToken[]
  readonly #byMint = new Map<string, { readonly decimals: number; readonly at: (slot: number) => number }>()

  constructor(seed: string) {
    const random = seededRandom(`${seed}/prices`)
    this.listed = LISTED.map(([symbol, name, decimals, usd, makerUsd]) => ({
      ...{ mint: random.bytes(32), symbol, name, decimals, usd, makerUsd }
    }))
    for (const { mint, decimals, usd } of this.listed) {
      const at = usd === 1 ? () => 1 : wandering(usd, LISTED_SWING, random)
      this.#byMint.set(pubkeyMapKey(mint), { decimals, at })
    }
    const sol = wandering(SOL_USD, SOL_SWING, random)
    this.#byMint.set(pubkeyMapKey(NATIVE_MINT), { decimals: 9, at: sol })
    this.#byMint.set(pubkeyMapKey(USDC), { decimals: 6, at: () => 1 })
  }

  /** Returns the dollars of a raw unit; null if the coin has no reference price. */
  rawUsd(mint: Pubkey, slot: number): number | null {
    const price = this.#byMint.get(pubkeyMapKey(mint))
    return price === undefined ? null : price.at(slot) / 10 ** price.decimals
  }

  /** Returns the raw units of quote that a raw unit of base is worth; null if either has no reference price. */
  pairPrice(base: Pubkey, quote: Pubkey, slot: number): number | null {
    const [baseUsd, quoteUsd] = [this.rawUsd(base, slot), this.rawUsd(quote, slot)]
    return baseUsd === null || quoteUsd === null ? null : baseUsd / quoteUsd
  }
}

/**
 * Returns a price by slot that wanders like a random walk and comes back: value noise in octaves. The last result is
 * cached, because a slot needs each price many times.
 */
function wandering(usd: number, swing: number, random: SeededRandom): (slot: number) => number {
  const key = Math.floor(random.next() * 2 ** 32)
  let known = { slot: -1, price: usd }
  return (slot) => {
    if (known.slot === slot) return known.price
    let moved = 0
    let amplitude = swing
    let period = SLOWEST_SLOTS
    for (let octave = 0; octave < OCTAVES; octave++) {
      moved += amplitude * noiseAt(key + octave, slot / period)
      amplitude *= FALL
      period /= 3
    }
    known = { slot, price: usd * Math.exp(moved) }
    return known.price
  }
}

/** Returns smooth noise in [-1, 1] with one random value at each whole number. */
function noiseAt(key: number, at: number): number {
  const left = Math.floor(at)
  const share = at - left
  const smooth = share * share * (3 - 2 * share)
  const [from, to] = [latticeValue(key, left), latticeValue(key, left + 1)]
  return from + (to - from) * smooth
}

/** Returns the finalizer of MurmurHash3 over key and index, in [-1, 1). */
function latticeValue(key: number, index: number): number {
  let hash = Math.imul(key ^ Math.imul(index, 0x9e3779b1), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash ^= hash >>> 16
  return (hash >>> 0) / 2 ** 31 - 1
}
