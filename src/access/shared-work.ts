import type { Clock } from '../ports.ts'
import type { RateUse, WorkCounter } from '../../storage/cluster/coordination.ts'
import { WINDOW_SECONDS } from './rate-seconds.ts'
import { windowOf, WorkWindow } from './work-window.ts'

/**
 * Number of processes assumed until the number is known. A quota divided by four is neither lifted nor too small for a
 * small deployment.
 */
export const PROCESSES_ASSUMED = 4
/**
 * Interval of reports of new work, in milliseconds: a sixtieth of a window, and one round trip for each name in use. Work
 * of other processes that is unknown for up to this interval becomes debt.
 */
export const REPORT_MS = 1_000

/** The count of work that several processes share. */
export interface SharedWorkCounts {
  /** Whether the counter can be reached. */
  readonly available: boolean
  /** The last known number of processes that count there; null if it was never known. */
  readonly processes: number | null
  /**
   * Adds units to a name in the window of the counter's own clock, and returns its total, including the debt of earlier
   * windows. `own` is what this process has reported in the given window: a smaller total means lost counts. Rejects if
   * it cannot count.
   */
  charge(work: {
    readonly name: string
    readonly quota: number
    readonly windowSeconds: number
    readonly units: number
    readonly own: { readonly window: number; readonly units: number }
  }): Promise<{ readonly units: number; readonly nowMs: number }>
}

interface Unreported {
  quota: number
  units: number
}

/**
 * A counter of work shared with other processes. No request waits for it: each process counts its own work at once, and
 * reports it every `REPORT_MS`. The response contains the work of the other processes. While the shared counter is
 * unavailable, each process enforces its share of the quota on its own work.
 */
export class SharedWork implements WorkCounter {
  readonly #counts: SharedWorkCounts
  readonly #clock: Clock
  readonly #namesMax: number
  /** Work of all processes at the last report, plus this process's work since then. */
  readonly #known: WorkWindow
  /** Work of this process alone. */
  readonly #own: WorkWindow
  #unreported = new Map<string, Unreported>()
  #isScheduled = false
  #aheadMs = 0

  /** `namesMax` bounds the names in memory. */
  constructor(counts: SharedWorkCounts, { clock, namesMax }: { clock: Clock; namesMax: number }) {
    this.#counts = counts
    this.#clock = clock
    this.#namesMax = namesMax
    this.#known = new WorkWindow(namesMax)
    this.#own = new WorkWindow(namesMax)
  }

  look(name: string, quota: number, nowMs: number): RateUse {
    const sharedMs = nowMs + this.#aheadMs
    if (this.#counts.available) return this.#known.look(name, quota, sharedMs)
    const share = Math.max(1, Math.floor(quota / (this.#counts.processes ?? PROCESSES_ASSUMED)))
    return this.#own.look(name, share, sharedMs)
  }

  charge(name: string, quota: number, units: number, nowMs: number): void {
    const sharedMs = nowMs + this.#aheadMs
    this.#known.charge(name, quota, units, sharedMs)
    this.#own.charge(name, quota, units, sharedMs)
    const unreported = this.#unreported.get(name)
    if (unreported !== undefined) {
      unreported.quota = quota
      unreported.units += units
    } else if (this.#unreported.size < this.#namesMax) this.#unreported.set(name, { quota, units })
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#clock.setTimeout(() => {
      this.#isScheduled = false
      if (!this.#counts.available) return
      const reports = this.#unreported
      this.#unreported = new Map()
      for (const [name, report] of reports) void this.#report(name, report)
    }, REPORT_MS)
  }

  async #report(name: string, { quota, units }: Unreported): Promise<void> {
    const sharedMs = this.#clock.now() + this.#aheadMs
    const own = {
      window: windowOf(sharedMs),
      units: Math.max(0, this.#own.unitsOf(name, quota, sharedMs) - units)
    }
    try {
      const shared = await this.#counts.charge({ name, quota, windowSeconds: WINDOW_SECONDS, units, own })
      this.#aheadMs = shared.nowMs - this.#clock.now()
      const since = this.#unreported.get(name)?.units ?? 0
      this.#known.set(name, shared.units + since, shared.nowMs)
    } catch {
      // It is unknown whether the work was added. The next report's `own` restores it if it was not.
    }
  }
}
