import { systemPorts, type Clock } from '../../src/ports.ts'

/** The clock of the machine, put forward by tests. Its timers go on as they do. */
export class ShiftedClock implements Clock {
  #aheadMs = 0

  advance(ms: number): void {
    this.#aheadMs += ms
  }

  now(): number {
    return systemPorts.clock.now() + this.#aheadMs
  }

  setTimeout(run: () => void, ms: number): unknown {
    return systemPorts.clock.setTimeout(run, ms)
  }

  clearTimeout(timer: unknown): void {
    systemPorts.clock.clearTimeout(timer)
  }
}
