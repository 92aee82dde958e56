import { z } from 'zod'
import type { Clock } from '../../src/ports.ts'
import type { RunScript, Script } from './script.ts'

/** Fractions of a lease's length: the pause before a renewal, and before the retry of a failed one. */
const RENEWAL = 1 / 3
const ATTEMPT = 1 / 12
/**
 * Fraction of the length: a renewal takes along the leases that are due within it. Half of a pause, so that the leases of a
 * process are soon renewed together, whenever they were granted.
 */
const GATHER = RENEWAL / 2
/** Maximum leases of one script, which takes the server 5 µs for each. A process with every shard of two products has 65. */
const LEASES_A_SCRIPT = 100

/**
 * Renews leases, each by itself, also one that has ended or that the server has forgotten, unless there was another holder
 * since. A request that arrives later than the holder waits changes nothing: the holder may be gone. Replies for each lease 1,
 * or 0 if there was another holder, or -1 if the request came late.
 */
export const RENEW: Script = {
  name: 'millraceRenew',
  keys: null,
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local isLate = now > tonumber(ARGV[2])
local replies = {}
for lease = 1, #KEYS / 2 do
  local holderKey, tokenKey = KEYS[lease * 2 - 1], KEYS[lease * 2]
  local owner, token = ARGV[lease * 2 + 1], ARGV[lease * 2 + 2]
  local holder = redis.call('GET', holderKey)
  if isLate then
    replies[lease] = -1
  elseif (holder and holder ~= owner) or tonumber(redis.call('GET', tokenKey) or 0) > tonumber(token) then
    replies[lease] = 0
  else
    redis.call('SET', tokenKey, token)
    redis.call('SET', holderKey, owner, 'PX', ARGV[1])
    replies[lease] = 1
  end
end
return replies`
}

const renewReply = z.array(z.literal([1, 0, -1]))
export type RenewReply = z.infer<typeof renewReply>[number]

/** A lease of this process that is to be renewed. */
export interface Renewable {
  /** The keys of the holder and of the token. */
  readonly keys: readonly string[]
  readonly owner: string
  readonly token: number
  /** Takes the outcome of a renewal that was sent at a time of the monotonic clock. */
  renewed(reply: RenewReply, sentMs: number): void
}

export interface RenewalTerms {
  readonly clock: Clock
  readonly lengthMs: number
  readonly monotonicMs: () => number
  /** Server time until which a request sent now may take effect: the sender waits no longer. */
  readonly latestMs: () => number
  readonly renew: RunScript
}

/**
 * Renews the leases of a process. Those that are due at nearly the same time share a request, in which the server decides on
 * each by itself.
 */
export class LeaseRenewals {
  readonly #terms: RenewalTerms
  /** The times at which leases are due, by the monotonic clock; without those whose renewal is under way. */
  readonly #dueMs = new Map<Renewable, number>()
  #timer: unknown = null
  #timerMs = Infinity

  constructor(terms: RenewalTerms) {
    this.#terms = terms
  }

  /** Renews a lease that was just granted until it is removed, or its renewal is refused. */
  add(lease: Renewable): void {
    this.#renewAfter(lease, this.#terms.lengthMs * RENEWAL)
  }

  remove(lease: Renewable): void {
    this.#dueMs.delete(lease)
    if (this.#dueMs.size === 0) this.#stopTimer()
  }

  #renewAfter(lease: Renewable, ms: number): void {
    const dueMs = this.#terms.monotonicMs() + ms
    this.#dueMs.set(lease, dueMs)
    if (dueMs < this.#timerMs) this.#wakeAt(dueMs)
  }

  #wakeAt(dueMs: number): void {
    const { clock, monotonicMs } = this.#terms
    this.#stopTimer()
    this.#timerMs = dueMs
    this.#timer = clock.setTimeout(() => this.#renewDue(), Math.max(0, dueMs - monotonicMs()))
  }

  #stopTimer(): void {
    this.#terms.clock.clearTimeout(this.#timer)
    this.#timerMs = Infinity
  }

  /** Renews the leases that are due, and those that are due soon. */
  #renewDue(): void {
    const { lengthMs, monotonicMs } = this.#terms
    const untilMs = Math.max(monotonicMs(), this.#timerMs) + lengthMs * GATHER
    this.#timerMs = Infinity
    const due = [...this.#dueMs].filter(([, dueMs]) => dueMs <= untilMs).map(([lease]) => lease)
    for (const lease of due) this.#dueMs.delete(lease)
    for (let at = 0; at < due.length; at += LEASES_A_SCRIPT)
      void this.#renew(due.slice(at, at + LEASES_A_SCRIPT))
    const nextMs = Math.min(...this.#dueMs.values())
    if (nextMs !== Infinity) this.#wakeAt(nextMs)
  }

  /** Never rejects: the connection reports what is wrong with the server, and the next attempt follows. */
  async #renew(leases: readonly Renewable[]): Promise<void> {
    const { lengthMs, monotonicMs, latestMs, renew } = this.#terms
    const sentMs = monotonicMs()
    const keys = leases.flatMap(({ keys }) => keys)
    const args = [lengthMs, latestMs(), ...leases.flatMap(({ owner, token }) => [owner, token])]
    const replies = await renew(keys, args).then(
      (reply) => renewReply.safeParse(reply).data ?? [],
      () => []
    )
    for (const [at, lease] of leases.entries()) {
      const reply = replies[at] ?? -1
      // Scheduled first: a lease that was released meanwhile, or is lost, removes itself.
      this.#renewAfter(lease, lengthMs * (reply === 1 ? RENEWAL : ATTEMPT))
      lease.renewed(reply, sentMs)
    }
  }
}
