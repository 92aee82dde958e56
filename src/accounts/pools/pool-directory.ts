import type { Clock } from '../../ports.ts'
import { describeFault, NodeError } from '../../node/node-fault.ts'
import { AccountDirectory } from '../account-directory.ts'
import type { Known } from '../reading-cache.ts'
import type { SharedReadings } from '../../../storage/port/readings.ts'
import { VENUES } from '../../chain/venues.ts'
import type { AccountNode } from '../ports.ts'
import { addressInKey, keyOfAddress } from '../reading-keys.ts'
import { poolReading, readPools, type PoolReading } from './pool-reader.ts'
import type { PoolSubject } from './pool-state.ts'

/** TTL of a reading in milliseconds: five slots; reserves change with every trade. */
export const FRESH_MS = 2_000
/** Milliseconds after which a peek at a reading starts a refresh, as for mints. */
const REFRESH_MS = 10_000
/** Milliseconds that an answer waits for the node: half of the time that an answer may take. */
export const POOL_WAIT_MS = 1_000
/** Accounts of a pool that has not been read: the pool and two vaults. */
const USUAL_ACCOUNTS = 3

export type KnownPool = Known<PoolReading>

/** The reading of a pool, and why it is not fresh; null if it is fresh. */
export interface PoolAnswer {
  readonly known: KnownPool | null
  readonly fault: string | null
}

export interface PoolDirectoryOptions {
  readonly node: AccountNode
  readonly clock: Clock
  /** Limit of the cache. */
  readonly bytesMax: number
  /** Readings of all processes; absent if this one shares its readings with no other. */
  readonly shared?: SharedReadings | null
}

/** States of pools, cached and read in batches. */
export class PoolDirectory extends AccountDirectory<PoolSubject, PoolReading> {
  readonly #clock: Clock

  constructor({ node, clock, bytesMax, shared = null }: PoolDirectoryOptions) {
    super({
      clock,
      bytesMax,
      freshMs: FRESH_MS,
      refreshMs: REFRESH_MS,
      addressOf: ({ pool }) => pool,
      accountsOf: (_, cached) => (cached === null ? USUAL_ACCOUNTS : 1 + cached.accounts.length),
      bytesOf: ({ accounts }) => 900 + 100 * accounts.length,
      read: async (subjects, signal) => {
        const asks = subjects.map((subject) => ({
          subject,
          accounts: this.peek(subject)?.reading.accounts ?? []
        }))
        return readPools(node, asks, signal)
      },
      sharing: shared && {
        shared,
        keyOf: ({ pool, venue }) => keyOfAddress(venue, pool),
        subjectOf: poolInKey,
        readingOf: poolReading
      }
    })
    this.#clock = clock
  }

  /**
   * Returns the states of pools in the given order: fresh ones, or cached ones if the node does not answer within
   * `POOL_WAIT_MS`. Does not wait within `PAUSE_MS` of a failed read. Never rejects.
   */
  async within(subjects: readonly PoolSubject[]): Promise<readonly PoolAnswer[]> {
    const stale = subjects.filter((subject) => this.fresh(subject) === null)
    if (stale.length === 0) return subjects.map((subject) => ({ known: this.peek(subject), fault: null }))
    const faults = this.isPaused ? this.#refused(stale) : await this.#awaited(stale)
    return subjects.map((subject) => ({ known: this.peek(subject), fault: faults.get(subject) ?? null }))
  }

  #refused(subjects: readonly PoolSubject[]): Map<PoolSubject, string> {
    const reason = this.lastFault === null ? 'the node does not answer' : faultText(this.lastFault)
    return new Map(subjects.map((subject) => [subject, reason]))
  }

  /** Waits for the reads of pools. Returns those that failed or did not end in time. */
  async #awaited(subjects: readonly PoolSubject[]): Promise<Map<PoolSubject, string>> {
    const open = new Map(
      subjects.map((subject) => [subject, `the node did not answer within ${POOL_WAIT_MS} ms`])
    )
    const reads = subjects.map(async (subject) => {
      try {
        await this.urgently(subject)
        open.delete(subject)
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        open.set(subject, faultText(error))
      }
    })
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = this.#clock.setTimeout(resolve, POOL_WAIT_MS)
    try {
      await Promise.race([Promise.all(reads), late])
    } finally {
      this.#clock.clearTimeout(timer)
    }
    return new Map(open)
  }
}

const faultText = ({ fault }: NodeError): string => `the node failed: ${describeFault(fault)}`

/** Returns the pool of a key; its kind is the venue. */
function poolInKey(key: string): PoolSubject | null {
  for (const { id } of VENUES) {
    const pool = addressInKey(id, key)
    if (pool !== null) return { pool, venue: id }
  }
  return null
}
