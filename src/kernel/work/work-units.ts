/**
 * Microseconds of the event loop that one unit of work represents. A small cached answer, the cheapest call, is 3 units at
 * 10 µs, so that prices are small numbers and rounding to whole units does not distort them.
 */
export const UNIT_US = 10

/**
 * Units of each kind of work, as measured (`src/docs/performance.md`, `loadtest/results/call-costs.json` and
 * `loadtest/results/stream-replay.json`).
 */
export const WORK_PRICES = {
  /** Any call, element of a batch or channel: a small cached answer takes 27 to 31 µs. */
  call: 3,
  /** A row that is read from the store, or listed in an answer: 4 to 5 µs of a page of trades. */
  row: 0.5,
  /** A stored version of an account that is read from disk and examined: 3.5 to 7 µs. */
  account: 0.6,
  /** As `account`, if it is already in memory: 0.06 to 0.15 µs. Accounts that match count as rows, too. */
  accountInMemory: 0.015,
  /** As `account`, if a cluster supplies it: 20 µs. */
  accountOfCluster: 2,
  /** A name that a search compares: 0.2 to 0.4 µs, and 1.2 µs in the order of volume. */
  name: 0.05,
  /** A token account of a holder list that is read for the first time: 20 µs to decode, sort and store it. */
  holder: 2,
  /** A KiB of an answer that is made: 4 µs of a page of trades; gzip runs outside the event loop. */
  kibibyte: 0.4,
  /** A past event that a stream reads and resends: 20 µs of a trade; 2.3 µs of an event that is stored as it is sent. */
  event: 2
} as const

/** Rows that a key without a limit of its own may export in a day: a month of a busy token. */
export const EXPORT_ROWS_PER_DAY = 1_000_000

export type WorkKind = keyof typeof WORK_PRICES

/** Meanings of the kinds, for documents; each completes a phrase after a price. */
export const WORK_MEANINGS: Readonly<Record<WorkKind, string>> = {
  call: 'a call',
  row: 'a row that is read or listed (an hour of activity also counts one for each 8 of its minutes)',
  account: 'an account that is read from disk and examined',
  accountInMemory: 'an account that is examined in memory',
  accountOfCluster: 'an account that is read from a cluster and examined',
  name: 'a name that is compared (a match counts as 4; with many matches, 40 tokens also count as one)',
  holder: 'a token account of a holder list that the request has had read',
  kibibyte: 'a KiB of the answer',
  event: 'an event that is replayed'
}

/**
 * Units that a key, and all keys of a tenant together, may use in a minute: 30 s of the event loop, half of what one
 * core has. 600 pages of 100 trades are less than a fortieth of it.
 */
export const WORK_PER_MINUTE = (30 * 1_000_000) / UNIT_US

/** Returns the prices of some kinds as text, such as `3 for a call, 0.4 for a KiB of the answer`. */
export const pricesText = (kinds: readonly WorkKind[]): string =>
  kinds.map((kind) => `${WORK_PRICES[kind]} for ${WORK_MEANINGS[kind]}`).join(', ')

/** Returns why a call is refused; `resetIn` is in seconds. */
export const workUsedUp = (quota: number, resetIn: number): string =>
  `this key may use ${quota} units of work a minute, which it and the other keys of its tenant have used; new work is admitted in ${resetIn} s`
