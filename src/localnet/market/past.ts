import { USUAL_PACE, type MarketPace } from './pace.ts'

/** A block of the past: its slot, its time and its pace. */
export interface PastBlock {
  readonly slot: number
  /** Milliseconds since the beginning of the past. */
  readonly offsetMs: number
  readonly pace: MarketPace
}

const SLOT_MS = 400
export const DAY_MS = 86_400_000
/** The first slot after the past. */
export const PAST_SLOTS = DAY_MS / SLOT_MS

/**
 * Block interval in milliseconds: the minimum at the end of the day, and the amount added at its beginning.
 */
const CLOSEST_MS = 15_000
const WIDENING_MS = 285_000

/**
 * Average launch interval in slots, added at the beginning of the day; at its end the pace equals that of live
 * slots.
 */
const LAUNCH_EVERY_MORE = 950

/**
 * Plans the day before the first live slot: about 500 blocks, each with the events of one to three minutes. They are
 * closer together toward its end, so that both the last hour and the day have charts. Slots between are skipped.
 */
export function planPast(): PastBlock[] {
  const blocks: PastBlock[] = []
  for (let offsetMs = CLOSEST_MS; offsetMs <= DAY_MS - CLOSEST_MS;) {
    const age = Math.sqrt(1 - offsetMs / DAY_MS)
    blocks.push({ slot: Math.floor(offsetMs / SLOT_MS), offsetMs, pace: pastPace(age) })
    offsetMs += CLOSEST_MS + WIDENING_MS * age
  }
  return blocks
}

/**
 * A few trades stand for many, so each is larger: the last hour trades for as many dollars as an hour of live slots. Votes
 * and most failures are left out. The last blocks have five times as many transactions as the first ones.
 */
function pastPace(age: number): MarketPace {
  return {
    ...USUAL_PACE,
    transactionsPerSlot: 4 + 16 * (1 - age) ** 4,
    launchEverySlots: USUAL_PACE.launchEverySlots + LAUNCH_EVERY_MORE * age,
    voteShare: 0,
    failureShare: 0.03,
    coinShare: 0.7,
    listedUsd: 3_000,
    coinSol: 0.7
  }
}
