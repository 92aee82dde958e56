import { systemPorts, type Clock } from '../../src/ports.ts'

/**
 * The time of the machine, advanced by tests. It is not set while a test runs, as the clock of a virtual machine may be. Its
 * timers run at the machine's pace.
 */
export class ShiftedClock implements Clock {
  #aheadMs = systemPorts.clock.now() - performance.now()

  advance(ms: number): void {
    this.#aheadMs += ms
  }

  now(): number {
    return Math.floor(performance.now() + this.#aheadMs)
  }

  setTimeout(run: () => void, ms: number): unknown {
    return systemPorts.clock.setTimeout(run, ms)
  }

  clearTimeout(timer: unknown): void {
    systemPorts.clock.clearTimeout(timer)
  }
}
