import type { Clock } from '../ports.ts'
import type { RateCounter, RateUse } from '../../storage/cluster/coordination.ts'
import { WINDOW_SECONDS } from './rate-seconds.ts'
import { RateWindow, WORK_NAMES } from './rate-window.ts'
import { PROCESSES_ASSUMED, SharedWork, type SharedWorkCounts } from './shared-work.ts'

const WINDOW_MS = WINDOW_SECONDS * 1000
/**
 * Maximum milliseconds that a call waits for the shared count; a call waits at least half of that. Far above a round trip
 * to Redis, and below what a client notices.
 */
export const ANSWER_MS = 100
/**
 * Maximum calls that wait for the shared count; further calls are counted locally. 10,000 calls in 100 ms are more than
 * one process can answer.
 */
export const WAITING_MAX = 10_000
/** A quota that no call exceeds, for calls that are only recorded. */
const ALL = Number.MAX_SAFE_INTEGER

/** The counter that several processes share. */
export interface SharedCounts {
  /** Whether the counter can be reached. */
  readonly available: boolean
  /** The last known number of processes that count there; null if it was never known. */
  readonly processes: number | null
  /**
   * Counts `cost` calls in the window of the counter's own clock, or only reads it (`cost` 0). Refused calls are not
   * counted. `own` is the number of calls this process has allowed in the given window: a smaller shared count has
   * been lost. Rejects if it cannot count.
   */
  count(call: {
    readonly name: string
    readonly quota: number
    readonly windowSeconds: number
    readonly cost: number
    readonly own: { readonly window: number; readonly calls: number }
  }): Promise<{ readonly allowed: boolean; readonly calls: number; readonly nowMs: number }>
}

interface Waiting {
  readonly name: string
  readonly quota: number
  readonly cost: number
  readonly resolve: (use: RateUse) => void
}

/**
 * A rate counter shared with other processes. While the shared counter is unavailable or late, each process enforces
 * its own share of the quota. Calls that it has already allowed in the window count against that share.
 *
 * S1. No call waits longer than `ANSWER_MS`; while an answer is overdue no call waits at all.
 * S2. The quota is always enforced: a call that is not counted in the shared counter is counted in the share.
 * S3. The shared counter is used again from the first call after it is back.
 */
export class SharedRate implements RateCounter {
  readonly work: SharedWork
  readonly #counts: SharedCounts
  readonly #clock: Clock
  /** Calls that this process has allowed in the window, wherever they were counted. */
  readonly #own: RateWindow
  /**
   * Calls wait for one to two ticks of half of `ANSWER_MS`. So a process that was suspended reads the answers that
   * arrived meanwhile before it abandons their calls.
   */
  #waiting = new Set<Waiting>()
  #waitingLonger = new Set<Waiting>()
  #ticking = false
  /** Calls without an answer that were counted locally. */
  #overdue = 0
  #aheadMs = 0
  #inShare = 0

  /** `namesMax` bounds the names in memory. */
  constructor(
    counts: SharedCounts & SharedWorkCounts,
    { clock, namesMax }: { clock: Clock; namesMax: number }
  ) {
    this.work = new SharedWork(counts, { clock, namesMax: WORK_NAMES * namesMax })
    this.#counts = counts
    this.#clock = clock
    this.#own = new RateWindow(namesMax)
  }

  /** Calls counted in the share since the start, for a metric. */
  get callsInShare(): number {
    return this.#inShare
  }

  take(name: string, quota: number, nowMs: number, calls = 1): RateUse | Promise<RateUse> {
    return this.#use(name, quota, calls, nowMs)
  }

  look(name: string, quota: number, nowMs: number): RateUse | Promise<RateUse> {
    return this.#use(name, quota, 0, nowMs)
  }

  #use(name: string, quota: number, cost: number, nowMs: number): RateUse | Promise<RateUse> {
    const waiting = this.#waiting.size + this.#waitingLonger.size
    if (!this.#counts.available || this.#overdue > 0 || waiting >= WAITING_MAX) {
      return this.#useShare(name, quota, cost, nowMs)
    }
    const { promise, resolve } = Promise.withResolvers<RateUse>()
    const call = { name, quota, cost, resolve }
    this.#waiting.add(call)
    this.#tick()
    const own = this.#ownCalls(name, nowMs)
    this.#counts.count({ name, quota, windowSeconds: WINDOW_SECONDS, cost, own }).then(
      ({ allowed, calls, nowMs }) => {
        if (!this.#stopWaiting(call)) return
        this.#aheadMs = nowMs - this.#clock.now()
        if (allowed && cost > 0) this.#own.take(name, ALL, nowMs, cost)
        resolve(useOf(allowed, quota - calls, nowMs))
      },
      () => {
        if (this.#stopWaiting(call)) resolve(this.#useShare(name, quota, cost, this.#clock.now()))
      }
    )
    return promise
  }

  /** Returns false for a call that was counted locally meanwhile. */
  #stopWaiting(call: Waiting): boolean {
    if (this.#waiting.delete(call) || this.#waitingLonger.delete(call)) return true
    this.#overdue--
    return false
  }

  #tick(): void {
    if (this.#ticking) return
    this.#ticking = true
    this.#clock.setTimeout(() => {
      this.#ticking = false
      const late = this.#waitingLonger
      this.#waitingLonger = this.#waiting
      this.#waiting = new Set()
      this.#overdue += late.size
      for (const { name, quota, cost, resolve } of late) {
        resolve(this.#useShare(name, quota, cost, this.#clock.now()))
      }
      if (this.#waitingLonger.size > 0) this.#tick()
    }, ANSWER_MS / 2)
  }

  /** Counts in the share, in windows of the shared clock as far as that is known. */
  #useShare(name: string, quota: number, cost: number, nowMs: number): RateUse {
    this.#inShare++
    const share = Math.max(
      Math.floor(quota / (this.#counts.processes ?? PROCESSES_ASSUMED)),
      Math.min(1, quota)
    )
    const sharedMs = nowMs + this.#aheadMs
    return cost > 0 ? this.#own.take(name, share, sharedMs, cost) : this.#own.look(name, share, sharedMs)
  }

  #ownCalls(name: string, nowMs: number): { window: number; calls: number } {
    const sharedMs = nowMs + this.#aheadMs
    return { window: Math.floor(sharedMs / WINDOW_MS), calls: ALL - this.#own.look(name, ALL, sharedMs).left }
  }
}

function useOf(allowed: boolean, left: number, nowMs: number): RateUse {
  const resetAt = (Math.floor(nowMs / WINDOW_MS) + 1) * WINDOW_SECONDS
  return { allowed, left: Math.max(0, left), resetAt, resetIn: Math.ceil(resetAt - nowMs / 1000) }
}
