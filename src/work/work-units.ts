/**
 * Microseconds of the event loop that one unit of work stands for. 10: a small cached answer, the cheapest call, is 3 units, so
 * that a price is a small number and rounding to whole units is no price of its own.
 */
export const UNIT_US = 10

/**
 * Units of each kind of work, as measured (`src/docs/performance.md`, `loadtest/results/call-costs.json` and
 * `loadtest/results/stream-replay.json`).
 */
export const WORK_PRICES = {
  /** Any call, element of a batch or channel: a small cached answer takes 27 to 31 µs. */
  call: 3,
  /** A row that is read from the store for an answer: 4 to 5 µs of a page of trades. */
  row: 0.5,
  /** A stored version of an account that a filter examines: 6 µs of a scan of 20,000. */
  account: 0.6,
  /** A KiB of an answer that is made: 4 µs of a page of trades; gzip runs outside the event loop. */
  kibibyte: 0.4,
  /** A past event that a stream reads and sends again: 20 µs of a trade; 2.3 µs of an event that is stored as it is sent. */
  event: 2
} as const

export type WorkKind = keyof typeof WORK_PRICES

/** Meanings of the kinds, for documents. */
export const WORK_MEANINGS: Readonly<Record<WorkKind, string>> = {
  call: 'call',
  row: 'row that is read',
  account: 'account that is examined',
  kibibyte: 'KiB of the answer',
  event: 'event that is replayed'
}

/**
 * Units that a key, and all keys of a tenant together, may use in a minute: 30 s of the event loop, half of what one
 * core has. 600 pages of 100 trades are less than a fortieth of it.
 */
export const WORK_PER_MINUTE = (30 * 1_000_000) / UNIT_US

/** Returns the prices of some kinds as text, such as `3 a call, 0.5 a row that is read`. */
export const pricesText = (kinds: readonly WorkKind[]): string =>
  kinds.map((kind) => `${WORK_PRICES[kind]} a ${WORK_MEANINGS[kind]}`).join(', ')

/** Returns why a call is refused; `resetIn` is in seconds. */
export const workUsedUp = (quota: number, resetIn: number): string =>
  `this key may use ${quota} units of work a minute, which it and the other keys of its tenant have used; work is admitted again in ${resetIn} s`
