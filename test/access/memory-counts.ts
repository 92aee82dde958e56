import type { SharedCounts } from '../../src/access/shared-rate.ts'
import type { SharedWorkCounts } from '../../src/access/shared-work.ts'
import { windowOf, WorkWindow } from '../../src/access/work-window.ts'
import type { Clock } from '../../src/ports.ts'

type Work = Parameters<SharedWorkCounts['charge']>[0]
type Call = Parameters<SharedCounts['count']>[0]
type Count = Awaited<ReturnType<SharedCounts['count']>>

/** Counts that processes share, in memory, with their own clock. The test controls the answers. */
export class MemoryCounts implements SharedCounts, SharedWorkCounts {
  available = true
  processes: number | null = 2
  /** Milliseconds by which its clock is ahead of the test's. */
  aheadMs = 0
  /** Awaited after a call is counted and before it is answered. */
  beforeAnswer: () => Promise<void> = async () => undefined
  /** Every call that arrived, in order. */
  readonly calls: Call[] = []
  readonly #clock: Clock
  readonly #counts = new Map<string, number>()
  #work = new WorkWindow(100)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Forgets all counts, as a server without persistence does when it is killed. */
  forget(): void {
    this.#counts.clear()
    this.#work = new WorkWindow(100)
  }

  async count(call: Call): Promise<Count> {
    if (!this.available) throw new Error('away')
    this.calls.push(call)
    const nowMs = this.#clock.now() + this.aheadMs
    const window = Math.floor(nowMs / 1000 / call.windowSeconds)
    const key = `${call.name} ${window}`
    let calls = Math.max(this.#counts.get(key) ?? 0, call.own.window === window ? call.own.calls : 0)
    const allowed = calls + Math.max(call.cost, 1) <= call.quota
    if (allowed) this.#counts.set(key, (calls += call.cost))
    await this.beforeAnswer()
    return { allowed, calls, nowMs }
  }

  async charge({
    name,
    quota,
    units,
    own
  }: Work): Promise<{ readonly units: number; readonly nowMs: number }> {
    if (!this.available) throw new Error('away')
    const nowMs = this.#clock.now() + this.aheadMs
    const before = this.#work.unitsOf(name, quota, nowMs)
    this.#work.set(name, Math.max(before, own.window === windowOf(nowMs) ? own.units : 0) + units, nowMs)
    return { units: this.#work.unitsOf(name, quota, nowMs), nowMs }
  }
}
