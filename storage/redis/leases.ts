import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Lease, Leases } from '../cluster/coordination.ts'
import type { Clock } from '../../src/ports.ts'
import type { RedisConnection } from './connection.ts'
import { LeaseRenewals, RENEW, type Renewable, type RenewalTerms, type RenewReply } from './lease-renewals.ts'
import type { RunScript, Script } from './script.ts'

/**
 * Milliseconds that an unrenewed lease lasts. Another process requests it within half a second. With that process's claim,
 * the work of a dead process continues within 5 s. A holder that is only late loses nothing but work (`Lease.lost`).
 */
export const LEASE_MS = 3_000
/** Fraction of the length for which a request may take effect: a holder sends the next one then. */
const LATEST = 1 / 3
/**
 * Fraction of the length by which the holder stops before the server ends the lease. It covers clocks whose speeds differ by
 * 5 %, and a timer that is late by the same amount.
 */
const MARGIN = 1 / 10

/**
 * Grants the lease unless another owner has it. Grants nothing until a whole length has passed since the server last lost
 * data: within it, a forgotten holder can renew. A request that arrives later than the caller waits is refused. The token
 * follows the clock, so that it grows even if the previous one is lost; a minimum covers a clock that is behind. Replies
 * the token, or 0.
 */
const ACQUIRE: Script = {
  name: 'millraceAcquire',
  keys: 3,
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since = tonumber(redis.call('HGET', KEYS[3], 'since'))
if not since or now - since < tonumber(ARGV[2]) then return 0 end
if now > tonumber(ARGV[4]) or redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local before = math.max(tonumber(redis.call('GET', KEYS[2]) or 0), tonumber(ARGV[3]))
local token = math.max(before + 1, now)
redis.call('SET', KEYS[2], string.format('%.0f', token))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return token`
}

const RELEASE: Script = {
  name: 'millraceRelease',
  keys: 1,
  lua: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`
}

const acquireReply = z.int().nonnegative()

type LeaseServer = Pick<RedisConnection, 'define' | 'key' | 'memoryKey' | 'serverNowMs'>

export interface LeaseOptions {
  readonly clock: Clock
  /** Milliseconds, at least 100. Every process of a service has the same. */
  readonly lengthMs?: number
  /** A monotonic clock in milliseconds: it cannot be set, and continues while the process stands still. */
  readonly monotonicMs?: () => number
}

/**
 * Leases from Redis: one holder of a name at a time among all processes of a service, as far as each can know. A holder that
 * cannot renew continues without knowing whether another process has the lease (`held`). Only the fencing token then refuses
 * its writes. The same holds if the server's wall clock is set forward, or if the holder's machine sleeps, which stops its
 * monotonic clock.
 */
export class RedisLeases implements Leases {
  readonly #connection: LeaseServer
  readonly #terms: LeaseTerms
  readonly #acquire: RunScript
  /** The greatest token of each name that was given here; names are few and fixed. */
  readonly #tokens = new Map<string, number>()

  constructor(connection: LeaseServer, options: LeaseOptions) {
    const { clock, lengthMs = LEASE_MS, monotonicMs = () => performance.now() } = options
    this.#connection = connection
    this.#acquire = connection.define(ACQUIRE)
    const [renew, release] = [connection.define(RENEW), connection.define(RELEASE)]
    const latestMs = () => Math.floor(connection.serverNowMs + lengthMs * LATEST)
    const renewals = new LeaseRenewals({ clock, lengthMs, monotonicMs, latestMs, renew })
    this.#terms = { lengthMs, monotonicMs, latestMs, renewals, release }
  }

  async acquire(name: string, above = 0): Promise<Lease | null> {
    const { lengthMs, monotonicMs } = this.#terms
    const keys = ['holder', 'token'].map((part) => this.#connection.key('lease', name, part))
    const owner = randomUUID()
    const sentMs = monotonicMs()
    const args = [owner, lengthMs, Math.max(this.#tokens.get(name) ?? 0, above), this.#terms.latestMs()]
    try {
      const token = acquireReply.parse(await this.#acquire([...keys, this.#connection.memoryKey], args))
      if (token === 0) return null
      this.#tokens.set(name, token)
      const lease = new HeldLease(this.#terms, { keys, owner, token, sentMs })
      if (lease.held) return lease
      await lease.release()
      return null
    } catch {
      // The connection reports what is wrong with the server, and callers retry anyway.
      return null
    }
  }
}

interface LeaseTerms extends Pick<RenewalTerms, 'lengthMs' | 'monotonicMs' | 'latestMs'> {
  readonly renewals: LeaseRenewals
  readonly release: RunScript
}

interface Grant {
  readonly keys: readonly string[]
  readonly owner: string
  readonly token: number
  /** Local time of the request: the server began to count later. */
  readonly sentMs: number
}

/**
 * L1. `held` ends a margin before the server can end the lease, counted from before the last successful renewal was sent. A
 *     successful renewal restarts it: the server has not given the lease to another process meanwhile.
 * L2. `lost` aborts once the server says that another process got the lease, or once it is released. It is then lost for
 *     good, whatever is answered later.
 */
class HeldLease implements Lease, Renewable {
  readonly keys: readonly string[]
  readonly owner: string
  readonly token: number
  readonly #terms: LeaseTerms
  readonly #lost = new AbortController()
  /** Deadline by the monotonic clock. */
  #deadlineMs: number

  constructor(terms: LeaseTerms, { keys, owner, token, sentMs }: Grant) {
    this.#terms = terms
    this.keys = keys
    this.owner = owner
    this.token = token
    this.#deadlineMs = this.#deadlineAfter(sentMs)
    terms.renewals.add(this)
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  get held(): boolean {
    return !this.lost.aborted && this.#terms.monotonicMs() < this.#deadlineMs
  }

  async release(): Promise<void> {
    this.#lose('it was released')
    await this.#terms.release(this.keys.slice(0, 1), [this.owner]).catch(() => undefined)
  }

  renewed(reply: RenewReply, sentMs: number): void {
    if (this.lost.aborted) return this.#terms.renewals.remove(this)
    if (reply === 0) this.#lose('the server has given it to another process')
    if (reply === 1) this.#deadlineMs = this.#deadlineAfter(sentMs)
  }

  #deadlineAfter(sentMs: number): number {
    return sentMs + this.#terms.lengthMs * (1 - MARGIN)
  }

  #lose(reason: string): void {
    this.#terms.renewals.remove(this)
    this.#lost.abort(new Error(`a lease was lost: ${reason}`))
  }
}
