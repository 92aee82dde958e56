import { createHash } from 'node:crypto'
import type { Coin, CoinFate } from './coin.ts'
import type { SeededRandom } from './venue.ts'
import { seededRandom } from './random.ts'

/** Properties that a coin has from its launch on. */
export interface CoinLife {
  readonly fate: CoinFate
  /** Trading activity at its birth; 1 for the usual flash. */
  readonly heat: number
  /** Half-life of its heat, in slots. */
  readonly spanSlots: number
}

/** Shares of the coins that do not graduate. Ranges and sources: src/docs/decisions/0009-localnet.md. */
const STILL_SHARE = 0.52
const RISER_SHARE = 0.035

/** Minimum heat, so that a live coin is traded occasionally. */
const LEAST_HEAT = 0.0001
/** Heat of a coin that has just graduated. */
const GRADUATED_HEAT = 2.5
/** Slots a day at 400 ms. */
const DAY_SLOTS = 216_000

/**
 * Draws the life of a coin from the seed and its number. One coin in every `graduateEvery` graduates, at a place within
 * its group that follows from the seed. So each group has one graduate, however few coins a market launches.
 */
export function lifeOf(seed: string, id: number, graduateEvery: number): CoinLife {
  const row = Math.floor(id / graduateEvery)
  const random = seededRandom(`${seed}/coin/${id}`)
  const around = (usual: number): number => usual * Math.exp(1.2 * (random.next() + random.next() - 1))
  if (id % graduateEvery === placeInRow(seed, row, graduateEvery))
    return { fate: 'graduate', heat: around(9), spanSlots: Math.round(around(DAY_SLOTS / 8)) }
  const dice = random.next()
  if (dice < RISER_SHARE)
    return { fate: 'riser', heat: around(1.2), spanSlots: Math.round(around(DAY_SLOTS / 10)) }
  if (dice < RISER_SHARE + STILL_SHARE)
    return { fate: 'still', heat: around(0.15), spanSlots: Math.round(around(60)) }
  return { fate: 'flash', heat: around(1), spanSlots: Math.round(around(350)) }
}

function placeInRow(seed: string, row: number, length: number): number {
  const hash = createHash('sha256').update(`${seed}/graduate/${row}`).digest()
  return hash.readUInt32LE(0) % length
}

/** Returns a coin's trading activity in a slot, relative to other coins. */
export function heatOf(coin: Coin, slot: number): number {
  const { fate, heat, spanSlots, graduatedSlot } = coin
  if (fate === 'graduate' && graduatedSlot === null) return heat
  const since = graduatedSlot ?? coin.bornSlot
  const first = graduatedSlot === null ? heat : GRADUATED_HEAT
  return first * 0.5 ** ((slot - since) / spanSlots) + LEAST_HEAT
}

/**
 * Returns the size of buys of a coin relative to usual buys: buyers spend more on a rising coin and less on a falling
 * one.
 */
export function buySizeOf(coin: Coin, slot: number): number {
  if (coin.graduatedSlot !== null) return 1
  if (coin.fate === 'graduate') return 2
  if (coin.fate === 'riser') return 1
  return coin.fate === 'flash' && slot - coin.bornSlot < HYPE_SPANS * coin.spanSlots ? 3 : 0.4
}

/** Number of half-lives during which a flash is mostly bought. */
const HYPE_SPANS = 0.5

/** Returns the share of buys among a coin's trades in a slot. `sold` is the sold share of its curve. */
export function buyShareOf(coin: Coin, slot: number, sold: number): number {
  const { fate, spanSlots } = coin
  const age = slot - coin.bornSlot
  if (coin.graduatedSlot !== null) return 0.5 + waveOf(coin, slot, 0.12)
  if (fate === 'graduate') return 0.86
  // A coin that does not graduate is mostly sold once its curve is half sold.
  if (sold > 0.5) return 0.35
  if (fate === 'riser') return 0.56 + waveOf(coin, slot, 0.12)
  if (fate === 'flash' && age < HYPE_SPANS * spanSlots) return 0.78
  return 0.13
}

/** Returns a coin's mood, which swings within hours at a phase and pace of its own. */
function waveOf({ id, spanSlots }: Coin, slot: number, swing: number): number {
  return swing * Math.sin((4 * slot) / spanSlots + id * 2.4)
}

/** Tells whether a coin is sold off within its first half-lives. */
export function isShortLived({ fate }: Pick<CoinLife, 'fate'>): boolean {
  return fate === 'still' || fate === 'flash'
}

/** Number of half-lives after which trading of a short-lived coin ends. */
const LIFE_SPANS = 4

export function overSlotOf({ bornSlot, spanSlots }: Coin): number {
  return bornSlot + LIFE_SPANS * spanSlots
}

/** Returns the slot in which the creator and the snipers sell everything; null if they keep it. */
export function exitSlotOf(
  { fate, spanSlots }: CoinLife,
  bornSlot: number,
  random: SeededRandom
): number | null {
  if (fate === 'graduate' || random.next() < 0.06) return null
  const spans = fate === 'riser' ? 0.1 + 0.3 * random.next() : 0.3 + 0.9 * random.next()
  return bornSlot + Math.ceil(spans * spanSlots)
}
