import { createHash } from 'node:crypto'
import type { Coin, CoinFate } from './coin.ts'
import type { SeededRandom } from './venue.ts'
import { seededRandom } from './random.ts'

/** Properties that a coin has from its launch on. */
export interface CoinLife {
  readonly fate: CoinFate
  /** How much is traded at its birth, 1 for the usual flash. */
  readonly heat: number
  /** Slots in which its heat falls to a half. */
  readonly spanSlots: number
}

/** Shares of the coins that do not graduate. Ranges and sources: src/docs/decisions/0009-localnet.md. */
const STILL_SHARE = 0.52
const RISER_SHARE = 0.035

/** Heat that a coin never falls below, so that it is traded now and then as long as it is remembered. */
const LEAST_HEAT = 0.0001
/** Heat of a coin that has just graduated. */
const GRADUATED_HEAT = 2.5
/** Slots a day at 400 ms. */
const DAY_SLOTS = 216_000

/**
 * Draws the life of a coin from the seed and its number. One coin in every `graduateEvery` is a graduate, at a place in the
 * row that follows from the seed: so each row has one, however few coins a market launches.
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

/** How much a coin is traded in a slot, beside others. */
export function heatOf(coin: Coin, slot: number): number {
  const { fate, heat, spanSlots, graduatedSlot } = coin
  if (fate === 'graduate' && graduatedSlot === null) return heat
  const since = graduatedSlot ?? coin.bornSlot
  const first = graduatedSlot === null ? heat : GRADUATED_HEAT
  return first * 0.5 ** ((slot - since) / spanSlots) + LEAST_HEAT
}

/** How large buys of a coin are beside usual ones: those who see a coin rise buy more of it, and less of one that falls. */
export function buySizeOf(coin: Coin, slot: number): number {
  if (coin.graduatedSlot !== null) return 1
  if (coin.fate === 'graduate') return 2
  if (coin.fate === 'riser') return 1
  return coin.fate === 'flash' && slot - coin.bornSlot < HYPE_SPANS * coin.spanSlots ? 3 : 0.4
}

/** Until when a flash is bought rather than sold, in spans. */
const HYPE_SPANS = 0.5

/** The share of buys among the trades of a coin in a slot. `sold` is the share of its curve that is sold. */
export function buyShareOf(coin: Coin, slot: number, sold: number): number {
  const { fate, spanSlots } = coin
  const age = slot - coin.bornSlot
  if (coin.graduatedSlot !== null) return 0.5 + waveOf(coin, slot, 0.12)
  if (fate === 'graduate') return 0.86
  // A coin that is not meant to graduate is sold rather than bought once its curve is half sold.
  if (sold > 0.5) return 0.35
  if (fate === 'riser') return 0.56 + waveOf(coin, slot, 0.12)
  if (fate === 'flash' && age < HYPE_SPANS * spanSlots) return 0.78
  return 0.13
}

/** A coin's mood, which swings within hours, at a place and a pace of its own. */
function waveOf({ id, spanSlots }: Coin, slot: number, swing: number): number {
  return swing * Math.sin((4 * slot) / spanSlots + id * 2.4)
}

/** Whether a coin is sold off within its first spans. */
export function isShortLived({ fate }: Pick<CoinLife, 'fate'>): boolean {
  return fate === 'still' || fate === 'flash'
}

/** Spans after which nobody expects anything of a short-lived coin. */
const LIFE_SPANS = 4

export function overSlotOf({ bornSlot, spanSlots }: Coin): number {
  return bornSlot + LIFE_SPANS * spanSlots
}

/** When the creator and the snipers sell all that they have; null where they stay. */
export function exitSlotOf(
  { fate, spanSlots }: CoinLife,
  bornSlot: number,
  random: SeededRandom
): number | null {
  if (fate === 'graduate' || random.next() < 0.06) return null
  const spans = fate === 'riser' ? 0.1 + 0.3 * random.next() : 0.3 + 0.9 * random.next()
  return bornSlot + Math.ceil(spans * spanSlots)
}
