import type { Clock } from '../ports.ts'
import type { RateCounter, RateUse } from '../../storage/coordination.ts'
import { RateWindow, WINDOW_SECONDS } from './rate-window.ts'

const WINDOW_MS = WINDOW_SECONDS * 1000
/** No call waits longer for the shared count; at the least it waits half as long. Chosen. */
export const ANSWER_MS = 100
/** Calls that wait for the shared count; one more is counted here. Chosen. */
export const WAITING_MAX = 10_000
/** What a process takes for the number of all until it has once heard how many there are. Chosen. */
export const PROCESSES_ASSUMED = 4
/** A quota that refuses nobody: for what is only noted. */
const ALL = Number.MAX_SAFE_INTEGER

/** Where several processes count together. */
export interface SharedCounts {
  /** Whether it is worth asking at all. */
  readonly available: boolean
  /** Processes that were last known to count there; null when that was never known. */
  readonly processes: number | null
  /**
   * Counts a call in the window of its own clock, or looks (`cost` 0). One that is refused takes nothing. `own` is what
   * this process has let through in which window: a count below it has been forgotten. Rejects when it cannot count.
   */
  count(call: {
    readonly name: string
    readonly quota: number
    readonly windowSeconds: number
    readonly cost: 0 | 1
    readonly own: { readonly window: number; readonly calls: number }
  }): Promise<{ readonly allowed: boolean; readonly calls: number; readonly nowMs: number }>
}

interface Waiting {
  readonly name: string
  readonly quota: number
  readonly cost: 0 | 1
  readonly resolve: (use: RateUse) => void
}

/**
 * A counter that shares its counts with other processes. While the shared count is away or late, each process counts by
 * itself in its share of the quota, which no process exceeds with what it has let through before in the window.
 *
 * S1. No call waits for longer than `ANSWER_MS`; while an answer is overdue none waits at all.
 * S2. No quota opens: a call that is not counted in the shared count is counted in the share.
 * S3. The shared count is used again with the first call after it is back.
 */
export class SharedRate implements RateCounter {
  readonly #counts: SharedCounts
  readonly #clock: Clock
  /** What this process has let through in the window, wherever it was counted. */
  readonly #own: RateWindow
  /**
   * Calls wait for one to two ticks of half of `ANSWER_MS`, so that a process that stood still reads what was answered
   * before it gives up.
   */
  #waiting = new Set<Waiting>()
  #waitingLonger = new Set<Waiting>()
  #ticking = false
  /** Calls without an answer that were counted here. */
  #overdue = 0
  #aheadMs = 0
  #inShare = 0

  /** `namesMax` bounds what is in memory of one window. */
  constructor(counts: SharedCounts, { clock, namesMax }: { clock: Clock; namesMax: number }) {
    this.#counts = counts
    this.#clock = clock
    this.#own = new RateWindow(namesMax)
  }

  /** Calls that were counted in the share since the start, for a metric. */
  get callsInShare(): number {
    return this.#inShare
  }

  take(name: string, quota: number, nowMs: number): RateUse | Promise<RateUse> {
    return this.#use(name, quota, 1, nowMs)
  }

  look(name: string, quota: number, nowMs: number): RateUse | Promise<RateUse> {
    return this.#use(name, quota, 0, nowMs)
  }

  #use(name: string, quota: number, cost: 0 | 1, nowMs: number): RateUse | Promise<RateUse> {
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
        if (allowed && cost === 1) this.#own.take(name, ALL, nowMs)
        resolve(useOf(allowed, quota - calls, nowMs))
      },
      () => {
        if (this.#stopWaiting(call)) resolve(this.#useShare(name, quota, cost, this.#clock.now()))
      }
    )
    return promise
  }

  /** False for a call that was counted here meanwhile. */
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

  /** Counts in the minutes of the shared clock, as far as is known. */
  #useShare(name: string, quota: number, cost: 0 | 1, nowMs: number): RateUse {
    this.#inShare++
    const share = Math.max(
      Math.floor(quota / (this.#counts.processes ?? PROCESSES_ASSUMED)),
      Math.min(1, quota)
    )
    const sharedMs = nowMs + this.#aheadMs
    return cost === 1 ? this.#own.take(name, share, sharedMs) : this.#own.look(name, share, sharedMs)
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
