import { randomUUID } from 'node:crypto'
import {
  READING_CLAIM_MS,
  type ReadingClaim,
  type SharedReading,
  type SharedReadings,
  type StoredReading
} from '../port/readings.ts'
import { storedReading, storedText } from '../reading-text.ts'
import { mapBounded, type CqlClient, type CqlRow } from './client.ts'

/**
 * Seconds for which a reading is stored, as in Redis. The number of readings is bounded by it: all nodes together answer
 * some thousand a second.
 */
const TTL_SECONDS = 300
/** Conditional writes under way: each takes four round trips between replicas. */
const CLAIMS_AT_ONCE = 16
/** Timestamps for each slot, in microseconds: seconds of readings at one slot. */
const TIMES_OF_SLOT = 1_000
/** Bytes of a key on the wire, estimated. */
const KEY_BYTES = 80

const SELECT = 'SELECT reading FROM account_readings WHERE key = ?'
const PUT = 'INSERT INTO account_readings (key, reading) VALUES (?, ?) USING TTL ? AND TIMESTAMP ?'
const SELECT_CLAIM = 'SELECT holder FROM account_reading_claims WHERE key = ?'
const CLAIM = 'INSERT INTO account_reading_claims (key, holder) VALUES (?, ?) IF NOT EXISTS USING TTL ?'
const RELEASE = 'DELETE FROM account_reading_claims WHERE key = ? IF holder = ?'

type Client = Pick<CqlClient, 'now' | 'readEach' | 'write' | 'conditional' | 'assertOpen' | 'outages'>

/**
 * Readings of accounts in the store, for processes without Redis and while it is unreachable. A claim is a conditional write
 * that expires. Changes are not heard: readers compare what they have with what is stored. The ages follow the clocks of
 * the processes, which must agree within a second.
 */
export class CqlSharedReadings implements SharedReadings {
  readonly notifies = false
  readonly #client: Client
  readonly #holder = randomUUID()

  constructor(client: Client) {
    this.#client = client
  }

  get available(): boolean {
    return this.#client.outages.current === null
  }

  async claim(
    asks: readonly { readonly key: string; readonly freshMs: number }[]
  ): Promise<readonly ReadingClaim[]> {
    const stored = await this.read(asks.map(({ key }) => key))
    const isFresh = (at: number): boolean => (stored[at]?.ageMs ?? Infinity) < asks[at]!.freshMs
    const open = asks.flatMap(({ key }, at) => (isFresh(at) ? [] : [key]))
    // A plain read first: most claims that are looked at again are those of another process.
    const holders = await this.#client.readEach(
      SELECT_CLAIM,
      open.map((key) => [key])
    )
    const free = open.filter((_, at) => holderIn(holders[at]) === null)
    const claimed = new Set(
      (await mapBounded(free, CLAIMS_AT_ONCE, async (key) => ((await this.#take(key)) ? [key] : []))).flat()
    )
    return asks.map(({ key }, at): ReadingClaim => {
      const state = isFresh(at) ? 'stored' : claimed.has(key) ? 'claimed' : 'elsewhere'
      return { state, stored: stored[at]! }
    })
  }

  async put(readings: readonly SharedReading[]): Promise<readonly (StoredReading | null)[]> {
    const stored = await this.read(readings.map(({ key }) => key))
    const newer = readings.map(({ slot }, at) =>
      stored[at] !== null && stored[at]!.slot > slot ? stored[at]! : null
    )
    await Promise.all(
      readings.filter((_, at) => newer[at] === null).map((reading) => this.#client.write([putOf(reading)]))
    )
    return newer
  }

  async release(keys: readonly string[]): Promise<void> {
    await mapBounded(keys, CLAIMS_AT_ONCE, async (key) => {
      this.#client.assertOpen()
      await this.#client.conditional([{ statement: RELEASE, params: [key, this.#holder] }])
    })
  }

  async read(keys: readonly string[]): Promise<readonly (StoredReading | null)[]> {
    const rows = await this.#client.readEach(
      SELECT,
      keys.map((key) => [key])
    )
    const nowMs = this.#client.now()
    return keys.map((key, at) => {
      const found = storedReading(key, rows[at]?.[0]?.['reading'], 0)
      return found && { ...found, ageMs: Math.max(0, nowMs - found.readAtMs) }
    })
  }

  subscribe(): () => void {
    return () => undefined
  }

  async #take(key: string): Promise<boolean> {
    this.#client.assertOpen()
    const params = [key, this.#holder, Math.ceil(READING_CLAIM_MS / 1_000)]
    const { applied, row } = await this.#client.conditional([{ statement: CLAIM, params }])
    // A try without an answer may have taken effect.
    return applied || row['holder'] === this.#holder
  }
}

const holderIn = (rows: readonly CqlRow[] | undefined): string | null =>
  (rows?.[0]?.['holder'] as string | null | undefined) ?? null

function putOf(reading: SharedReading) {
  const { key, slot, readAtMs } = reading
  const text = storedText(reading)
  const writtenAt =
    BigInt(slot) * BigInt(TIMES_OF_SLOT) + BigInt(Math.floor(readAtMs / 1_000) % TIMES_OF_SLOT)
  return { statement: PUT, params: [key, text, TTL_SECONDS, writtenAt], bytes: KEY_BYTES + text.length }
}
