import type { Fee } from '../../src/chain/events.ts'
import { factsOfVenue, VENUE_IDS, type VenueId } from '../../src/chain/venue-id.ts'
import type { LogChannel } from '../../src/market/log.ts'
import type { ActivityOf } from '../../src/market/activity-rows.ts'
import type { CurveStatus } from '../../src/market/registry-rows.ts'
import type { Commitment, Interval, LaunchStatus } from '../../src/market/rows.ts'

/** A closed set of words as one stored byte each. Append-only: a stored number never changes its meaning. */
export class Codes<Word extends string> {
  readonly #codeOf: Readonly<Record<Word, number>>
  /** By code; a lookup in a map takes three times as long. */
  readonly #wordOf: (Word | undefined)[] = []

  constructor(codes: Readonly<Record<Word, number>>) {
    this.#codeOf = codes
    for (const word of Object.keys(codes) as Word[]) this.#wordOf[codes[word]] = word
  }

  /** All words, ascending by code. */
  get words(): Word[] {
    return this.#wordOf.filter((word) => word !== undefined)
  }

  /** Returns the stored byte of a word. Throws RangeError for an unknown word. */
  codeOf(word: Word): number {
    const code: number | undefined = this.#codeOf[word]
    if (code === undefined) throw new RangeError(`${word} has no code`)
    return code
  }

  /** Returns the word of a stored byte. Throws RangeError for an unknown byte. */
  wordOf(code: number): Word {
    const word = this.#wordOf[code]
    if (word === undefined) throw new RangeError(`${code} stands for no word`)
    return word
  }
}

/** Returns codes by word. */
const codesOf = <Word extends string>(
  pairs: readonly (readonly [Word, number])[]
): Readonly<Record<Word, number>> => Object.fromEntries(pairs) as Record<Word, number>

export const venueCodes = new Codes<VenueId>(
  codesOf(VENUE_IDS.map((venue) => [venue, factsOfVenue(venue).code]))
)

/** Code of the first venue's channel; the other venues follow by their own codes. */
const VENUE_CHANNELS = 16

export const logChannelCodes = new Codes<LogChannel>({
  launches: 0,
  curves: 1,
  pools: 2,
  retractions: 3,
  moves: 4,
  ...codesOf(VENUE_IDS.map((venue) => [`venue:${venue}` as const, VENUE_CHANNELS + factsOfVenue(venue).code]))
})

export const feeKindCodes = new Codes<Fee['kind']>({
  protocol: 0,
  platform: 1,
  creator: 2,
  share: 3,
  referral: 4,
  host: 5,
  cashback: 6,
  'holder-rewards': 7,
  trading: 8,
  lp: 9,
  transfer: 10
})

export const commitmentCodes = new Codes<Commitment>({ processed: 0, confirmed: 1, finalized: 2 })

export const launchStatusCodes = new Codes<LaunchStatus>({ created: 0, trading: 1, graduated: 2 })

export const activityOfCodes = new Codes<ActivityOf>({ mint: 0, pool: 1, market: 2 })

export const curveStatusCodes = new Codes<CurveStatus>({ bonding: 0, graduating: 1, graduated: 2 })

export const intervalCodes = new Codes<Interval>({
  '1m': 0,
  '5m': 1,
  '15m': 2,
  '30m': 3,
  '1h': 4,
  '4h': 5,
  '1d': 6,
  '1w': 7
})
