import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Lease, Leases } from '../../src/coordination.ts'
import type { Clock } from '../../src/ports.ts'
import type { RedisConnection, RunScript, Script } from './connection.ts'

/** How long a lease lasts that is not renewed. Chosen: work moves to another process within seconds. */
export const LEASE_MS = 6_000
/** Of its length: renewals come after so much, attempts after a failed one so much later. */
const RENEWAL = 1 / 3
const ATTEMPT = 1 / 12
/**
 * Of its length: the holder stops so much before the server lets the lease go. It covers clocks of which one runs up to 5 %
 * faster than the other, and a timer that comes late by as much again.
 */
const MARGIN = 1 / 10

/**
 * Given unless another has it, and not before a whole length has passed in which the server has forgotten nothing: until
 * then a holder that it has forgotten may go on. What comes later than the asker waits for is refused. The token follows
 * the clock, so that it grows even over a loss of the one before.
 */
const ACQUIRE: Script = {
  name: 'millraceAcquire',
  keys: 3,
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since = tonumber(redis.call('HGET', KEYS[3], 'since'))
if not since or now - since < tonumber(ARGV[2]) then return { 0, 0 } end
if now > tonumber(ARGV[4]) or redis.call('EXISTS', KEYS[1]) == 1 then return { 0, 0 } end
local before = math.max(tonumber(redis.call('GET', KEYS[2]) or 0), tonumber(ARGV[3]))
local token = math.max(before + 1, now)
redis.call('SET', KEYS[2], string.format('%.0f', token))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { token, now + ARGV[2] }`
}

/**
 * A renewal that comes after the end is refused. One of a lease that the server has forgotten sets it down again, unless
 * there was another since.
 */
const RENEW: Script = {
  name: 'millraceRenew',
  keys: 2,
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now >= tonumber(ARGV[4]) then return 0 end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(ARGV[3]) then return 0 end
redis.call('SET', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return now + ARGV[2]`
}

const RELEASE: Script = {
  name: 'millraceRelease',
  keys: 1,
  lua: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`
}

const count = z.int().nonnegative()
const acquireReply = z.tuple([count, count])

type LeaseServer = Pick<RedisConnection, 'define' | 'key' | 'memoryKey' | 'serverNowMs'>

export interface LeaseOptions {
  readonly clock: Clock
  /** Milliseconds, at least 100. Every process of a service has the same. */
  readonly lengthMs?: number
  /** Milliseconds that nobody sets; they go on while the process stands still. */
  readonly monotonicMs?: () => number
}

/**
 * Leases that a Redis gives: one holder of a name at a time among all processes of a service. Two things end a lease unseen
 * by its holder, and then it is the fencing token that keeps it out: the server's clock of the day is set forward, or the
 * holder's machine sleeps, which stops its monotonic clock.
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
    this.#terms = { clock, lengthMs, monotonicMs, renew, release }
  }

  async acquire(name: string): Promise<Lease | null> {
    const { lengthMs, monotonicMs } = this.#terms
    const keys = ['holder', 'token'].map((part) => this.#connection.key('lease', name, part))
    const owner = randomUUID()
    const sentMs = monotonicMs()
    const latest = Math.floor(this.#connection.serverNowMs + lengthMs * RENEWAL)
    const args = [owner, lengthMs, this.#tokens.get(name) ?? 0, latest]
    try {
      const reply = await this.#acquire([...keys, this.#connection.memoryKey], args)
      const [token, untilMs] = acquireReply.parse(reply)
      if (token === 0) return null
      this.#tokens.set(name, token)
      const lease = new HeldLease(this.#terms, { keys, owner, token, untilMs, sentMs })
      if (lease.held) return lease
      await lease.release()
      return null
    } catch {
      // The connection says what is wrong with the server; whoever asks does so again anyway.
      return null
    }
  }
}

interface LeaseTerms {
  readonly clock: Clock
  readonly lengthMs: number
  readonly monotonicMs: () => number
  readonly renew: RunScript
  readonly release: RunScript
}

interface Grant {
  readonly keys: readonly string[]
  readonly owner: string
  readonly token: number
  /** When it ends by the server's clock. */
  readonly untilMs: number
  /** When it was asked for, by the clock here: the server began to count later. */
  readonly sentMs: number
}

/**
 * L1. `lost` aborts at the latest a margin before the server can end the lease, counted from before the last renewal that
 *     succeeded was sent.
 * L2. Once lost, it is lost for good, whatever is answered later.
 */
class HeldLease implements Lease {
  readonly token: number
  readonly #terms: LeaseTerms
  readonly #grant: Grant
  readonly #lost = new AbortController()
  #untilMs: number
  /** By the monotonic clock. */
  #deadlineMs: number
  #renewal: unknown
  #end: unknown

  constructor(terms: LeaseTerms, grant: Grant) {
    this.#terms = terms
    this.#grant = grant
    this.token = grant.token
    this.#untilMs = grant.untilMs
    this.#deadlineMs = this.#deadlineAfter(grant.sentMs)
    this.#keepUntilDeadline()
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  get held(): boolean {
    if (this.lost.aborted) return false
    if (this.#terms.monotonicMs() < this.#deadlineMs) return true
    this.#lose('it could not be renewed in time')
    return false
  }

  async release(): Promise<void> {
    this.#lose('it was released')
    const { keys, owner } = this.#grant
    await this.#terms.release(keys.slice(0, 1), [owner]).catch(() => undefined)
  }

  #deadlineAfter(sentMs: number): number {
    return sentMs + this.#terms.lengthMs * (1 - MARGIN)
  }

  #keepUntilDeadline(): void {
    const { clock, lengthMs } = this.#terms
    clock.clearTimeout(this.#end)
    if (!this.held) return
    const leftMs = this.#deadlineMs - this.#terms.monotonicMs()
    this.#end = clock.setTimeout(() => this.#lose('it could not be renewed in time'), leftMs)
    this.#renewAfter(lengthMs * RENEWAL)
  }

  #renewAfter(ms: number): void {
    this.#renewal = this.#terms.clock.setTimeout(() => void this.#renew(), ms)
  }

  async #renew(): Promise<void> {
    const { lengthMs, monotonicMs, renew } = this.#terms
    const { keys, owner, token } = this.#grant
    const sentMs = monotonicMs()
    try {
      const untilMs = count.parse(await renew(keys, [owner, lengthMs, token, this.#untilMs]))
      if (this.lost.aborted) return
      if (untilMs === 0) return this.#lose('the server has ended it')
      this.#untilMs = untilMs
      // An answer that comes after the deadline gives nothing back.
      if (this.held) this.#deadlineMs = this.#deadlineAfter(sentMs)
      this.#keepUntilDeadline()
    } catch {
      if (!this.lost.aborted) this.#renewAfter(lengthMs * ATTEMPT)
    }
  }

  #lose(reason: string): void {
    const { clock } = this.#terms
    clock.clearTimeout(this.#renewal)
    clock.clearTimeout(this.#end)
    this.#lost.abort(new Error(`a lease was lost: ${reason}`))
  }
}
