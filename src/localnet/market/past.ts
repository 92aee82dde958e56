import { USUAL_PACE, type MarketPace } from './pace.ts'

/** A block of the past: its slot, its time and how much happens in it. */
export interface PastBlock {
  readonly slot: number
  /** After the beginning of the past. */
  readonly offsetMs: number
  readonly pace: MarketPace
}

const SLOT_MS = 400
export const DAY_MS = 86_400_000
/** The first slot after the past. */
export const PAST_SLOTS = DAY_MS / SLOT_MS

/** Seconds between two blocks: so many at the end of the day, and so many more at its beginning. */
const CLOSEST_MS = 15_000
const WIDENING_MS = 285_000

/** Slots between two launches on average: so many more at the beginning of the day than at its end, which is as live slots. */
const LAUNCH_EVERY_MORE = 950

/**
 * Plans a day before the first live slot: some 500 blocks with what happened in a minute or three, closer together towards
 * its end, so that the last hour has charts as the day has. Slots between are skipped.
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
    transactionsPerSlot: 5 + 20 * (1 - age) ** 4,
    launchEverySlots: USUAL_PACE.launchEverySlots + LAUNCH_EVERY_MORE * age,
    voteShare: 0,
    failureShare: 0.03,
    coinShare: 0.7,
    listedUsd: 3_000,
    coinSol: 0.7
  }
}
