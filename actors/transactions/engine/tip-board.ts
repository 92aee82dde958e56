import { ERRORS, ServiceError } from '../../../src/kernel/errors.ts'
import { gunzipSync } from 'node:zlib'
import { TimedCache } from '../../../src/kernel/memory/timed-cache.ts'
import { collectedBytes } from '../../../src/kernel/collected-bytes.ts'
import type { Clock } from '../../../src/ports.ts'
import { readTipFloor, type TipFloor } from '../../../src/transactions/engine/tip-floor.ts'
import type { Tips } from '../../../src/transactions/ports.ts'
import type { EngineClient } from './engine-client.ts'

/** Milliseconds for which a tip floor is served without a refetch. The feed changes every few seconds. */
const FLOOR_FRESH_MS = 5_000
/** Milliseconds for which tip accounts are served without a refetch. They have never changed. */
const ACCOUNTS_FRESH_MS = 3_600_000
/** Milliseconds until a request gets the last value instead of a new one. It is below the deadline of an answer. */
const WAIT_MS = 1_200
const BODY_BYTES_MAX = 64 * 1024
/** The key of a cache with one value. */
const ONLY = ''

/** A cached value that is fetched when it is requested and not fresh. One fetch runs at a time. */
class Fetched<T extends NonNullable<unknown>> {
  readonly #fetch: () => Promise<T>
  readonly #freshMs: number
  readonly #clock: Clock
  readonly #cache: TimedCache<T>

  constructor(fetch: () => Promise<T>, freshMs: number, clock: Clock) {
    this.#fetch = fetch
    this.#freshMs = freshMs
    this.#clock = clock
    this.#cache = new TimedCache(clock, { entriesMax: 1 })
  }

  /** Returns the value, or the last one if no new one comes in time; null if no fetch ever succeeded. */
  async get(): Promise<{ readonly value: T; readonly isStale: boolean } | null> {
    if (this.#cache.get(ONLY) === undefined) await this.#renewed()
    const value = this.#cache.atAnyAge(ONLY)
    return value === undefined ? null : { value, isStale: this.#cache.get(ONLY) === undefined }
  }

  /** Resolves when a fetch ends, or after the longest wait. */
  #renewed(): Promise<void> {
    const fetching = this.#cache.load(ONLY, async () => {
      const value = await this.#fetch()
      return { value, endsAtMs: this.#clock.now() + this.#freshMs }
    })
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(resolve, WAIT_MS)
      const ended = (): void => {
        this.#clock.clearTimeout(timer)
        resolve()
      }
      fetching.then(ended, ended)
    })
  }
}

/** The tip accounts and the tip floor, as they were fetched last. */
export class TipBoard {
  readonly #accounts: Fetched<readonly string[]>
  /** Null if no feed is configured. */
  readonly #floor: Fetched<TipFloor> | null

  /** `end` aborts fetches in flight. */
  constructor(
    client: Pick<EngineClient, 'tipAccounts'>,
    floorUrl: string | null,
    { clock, end }: { readonly clock: Clock; readonly end: AbortSignal }
  ) {
    this.#accounts = new Fetched(() => client.tipAccounts(end), ACCOUNTS_FRESH_MS, clock)
    this.#floor =
      floorUrl === null ? null : new Fetched(() => fetchTipFloor(floorUrl, end), FLOOR_FRESH_MS, clock)
  }

  /** Returns the tip accounts. Rejects with UPSTREAM_ERROR if they were never fetched. */
  async accounts(): Promise<readonly string[]> {
    const accounts = await this.#accounts.get()
    if (accounts === null)
      throw new ServiceError(ERRORS.UPSTREAM_ERROR, 'the block engine returns no tip accounts')
    return accounts.value
  }

  /** Returns the tips. Rejects with UPSTREAM_ERROR if they were never fetched, and with NOT_CONFIGURED without a feed. */
  async tips(): Promise<Tips> {
    if (this.#floor === null) throw new ServiceError(ERRORS.NOT_CONFIGURED, 'no feed of tips is configured')
    const [accounts, floor] = await Promise.all([this.accounts(), this.#floor.get()])
    if (floor === null) throw new ServiceError(ERRORS.UPSTREAM_ERROR, 'the feed of tips does not answer')
    return { accounts, floor: floor.value, isStale: floor.isStale }
  }
}

async function fetchTipFloor(url: string, signal: AbortSignal): Promise<TipFloor> {
  // Imported at the first request of a floor, to keep the start fast.
  const { request } = await import('undici')
  const response = await request(url, { signal, headersTimeout: 5_000, bodyTimeout: 5_000 })
  const body = await collectedBytes(response.body, BODY_BYTES_MAX)
  if (body === null) throw new Error(`the feed of tips sends more than ${BODY_BYTES_MAX} bytes`)
  if (response.statusCode !== 200) throw new Error(`the feed of tips answers HTTP ${response.statusCode}`)
  const isGzip = response.headers['content-encoding'] === 'gzip'
  const bytes = isGzip ? gunzipSync(body, { maxOutputLength: BODY_BYTES_MAX }) : body
  return readTipFloor(JSON.parse(bytes.toString('utf8')))
}
