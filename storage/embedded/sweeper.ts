import { cursorAt } from '../../src/market/cursor.ts'
import {
  hourOfActivityKey,
  horizonKey,
  isOpenPageKey,
  keyAfter,
  keyAt,
  keysOf,
  type Key
} from '../codec/keys.ts'
import { horizonKind } from '../codec/kinds.ts'
import type { RowHorizon, Sweeper } from '../port.ts'
import { isExpiredHour } from './activity.ts'
import { firstSince } from './blocks.ts'
import type { Database } from './database.ts'
import { horizonOf } from './horizon.ts'
import { poolEventPages, tradePages, walletPages } from './row-lists.ts'
import type { View } from './view.ts'

/** The horizon moves only by at least this step: each move takes a read of the slots and a synced write. */
const HORIZON_STEP_SECONDS = 60
/**
 * Rounds of deletion in one retention period. Expired rows then take at most a twelfth of the disk, and each compaction
 * rewrites twelve times the space that it frees.
 */
const ROUNDS_PER_RETENTION = 12
/** Owners of hours that a step reads, about 50 µs each on the engine's threads. */
const OWNERS_PER_STEP = 16
/** Records that a step reads, and the most that it deletes. A block waits about 1.5 ms if all of them are open pages. */
const RECORDS_PER_STEP = 32
/**
 * Deleted records after which disk space is freed: about 64 MB of pages. Each time the engine writes its buffer to a table
 * of its own, however small it is.
 */
const DELETED_PER_COMPACTION = 16_384

const PAGES = { t: tradePages, w: walletPages, e: poolEventPages } as const
/** Kinds of records that expire, in the order of a round. */
const LETTERS = ['t', 'w', 'e', 'a'] as const

/** A walk through all records that can expire. */
interface Round {
  readonly horizon: RowHorizon
  letter: number
  at: Key
  /** The start of the range that is compacted next, and the number of records deleted in it. */
  from: Key
  deleted: number
}

interface Found {
  readonly keys: readonly Key[]
  readonly next: Key
  readonly isLast: boolean
}

/**
 * Ends rows in two steps. First the horizon moves, in one durable write: readers no longer see rows below it, in any list.
 * Then rounds delete hidden rows, some records at a time between two commits, and compact the ranges behind them.
 *
 * W1. Only hidden records are deleted, so readers see neither a round nor its interruption.
 * W2. A round keeps its position in memory: after a restart a new round begins, and finds less.
 * W3. Records found outside the write queue are deleted unless an amendment came between. If a block came between, open
 *     pages are checked again, because the block may have extended them.
 */
export class RowSweeper implements Sweeper {
  readonly #database: Database
  readonly #seconds: number
  #round: Round | null = null
  /** The horizon that the last round went up to. */
  #sweptTime = -Infinity

  constructor(database: Database, retentionSeconds: number) {
    this.#database = database
    this.#seconds = retentionSeconds
  }

  async step(): Promise<boolean> {
    if (this.#round === null) {
      const horizon = await this.#advanced()
      if (horizon.time - this.#sweptTime < this.#seconds / ROUNDS_PER_RETENTION) return false
      const { gte } = keysOf(LETTERS[0])
      this.#round = { horizon, letter: 0, at: gte, from: gte, deleted: 0 }
    }
    const round = this.#round
    const amendments = this.#database.amendments
    const found = await this.#database.read(async (view) => ({
      ...(await expiredFrom(view, round)),
      head: view.head
    }))
    if (found.keys.length > 0) {
      const isWritten = await this.#database.write(async (view, batch) => {
        if (this.#database.amendments !== amendments) return null
        const isExpired = (key: Key): boolean =>
          view.head === found.head || isStillExpired(view, key, round.horizon) // W3
        for (const key of found.keys) if (isExpired(key)) batch.deleteUncached(key)
        return { kind: 'sweep' }
      })
      if (!isWritten) return true
    }
    round.at = found.next
    round.deleted += found.keys.length
    if (round.deleted >= DELETED_PER_COMPACTION || (found.isLast && round.deleted > 0)) {
      await this.#database.compact({ gte: round.from, lt: round.at })
      round.from = round.at
      round.deleted = 0
    }
    if (found.isLast) this.#enterNext(round)
    return this.#round !== null
  }

  /** Moves the horizon if the head has advanced, and returns it. */
  async #advanced(): Promise<RowHorizon> {
    let horizon = await this.#database.read((view) => horizonOf(view))
    await this.#database.write(async (view, batch) => {
      const known = horizonOf(view)
      const time = (view.head?.blockTime ?? 0) - this.#seconds
      if (time < known.time + HORIZON_STEP_SECONDS) return null
      const slot = await firstSince(view, time)
      if (slot === null) return null
      horizon = { cursor: Math.max(cursorAt(slot, 0), known.cursor), time }
      batch.put(horizonKind, horizonKey(), horizon)
      return { kind: 'control', durable: 'horizon.durable' }
    })
    return horizon
  }

  #enterNext(round: Round): void {
    const letter = LETTERS[++round.letter]
    if (letter === undefined) {
      this.#sweptTime = round.horizon.time
      this.#round = null
    } else round.at = round.from = keysOf(letter).gte
  }
}

/** Checks some records from a round's position on. */
async function expiredFrom(view: View, { letter, at, horizon }: Round): Promise<Found> {
  const list = LETTERS[letter]!
  const end = keysOf(list).lt
  if (list !== 'a') {
    const found = await PAGES[list].expired(view, at, horizon.cursor, RECORDS_PER_STEP)
    return found === null ? { keys: [], next: end, isLast: true } : { ...found, isLast: false }
  }
  const keys: Key[] = []
  let next = at
  for (let owners = 0; owners < OWNERS_PER_STEP && keys.length < RECORDS_PER_STEP; owners++) {
    const found = await expiredHours(view, next, horizon, RECORDS_PER_STEP - keys.length)
    if (found === null) return { keys, next: end, isLast: true }
    keys.push(...found.keys)
    next = found.next
  }
  return { keys, next, isLast: false }
}

/**
 * Returns the expired hours of the first owner from a key on, and the key to continue at, or null at the end.
 */
async function expiredHours(view: View, from: Key, horizon: RowHorizon, limit: number) {
  const keys = await view.keys({ gte: from, lt: keysOf('a').lt }, limit)
  if (keys.length === 0) return null
  const live = keys.findIndex((key) => !isExpiredHour(hourOfActivityKey(key), horizon))
  if (live === -1) return { keys, next: keyAfter(keys.at(-1)!) }
  return { keys: keys.slice(0, live), next: keyAfter(keyAt(keys[live]!.subarray(0, -4), 2 ** 32 - 1, 4)) }
}

function isStillExpired(view: View, key: Key, horizon: RowHorizon): boolean {
  const list = LETTERS.find((letter) => letter.charCodeAt(0) === key[0])!
  // Closed pages and past hours change only by amendments.
  return list === 'a' || !isOpenPageKey(key) || PAGES[list].isExpired(view, key, horizon.cursor)
}
