import { Counter, Gauge, type Registry } from 'prom-client'
import type { Turns } from '../work/turns.ts'

/** Registers the metrics of the turns of tenants. */
export function workMetrics(registry: Registry, turns: Pick<Turns, 'usedMs' | 'waitingOf' | 'hold'>): void {
  const registers = [registry]
  new Counter({
    name: 'millrace_work_seconds_total',
    help: 'Time spent on answers, waits for the store included, by tenant',
    labelNames: ['tenant'],
    registers,
    collect() {
      this.reset()
      for (const [tenant, ms] of turns.usedMs) this.inc({ tenant }, ms / 1_000)
    }
  })
  new Gauge({
    name: 'millrace_work_waiting',
    help: 'Answers that wait for the turn of their tenant',
    labelNames: ['tenant'],
    registers,
    collect() {
      this.reset()
      for (const tenant of turns.usedMs.keys()) this.set({ tenant }, turns.waitingOf(tenant))
    }
  })
  new Gauge({
    name: 'millrace_work_hold_max_seconds',
    help: 'The longest time between two polls of the sockets in which answers were computed, since the last scrape',
    registers,
    collect() {
      this.set(turns.hold.takeLongestMs() / 1_000)
    }
  })
  new Gauge({
    name: 'millrace_work_slices_max',
    help: 'The most slices running between two polls of the sockets, since the last scrape; a slice takes up to 5 ms',
    registers,
    collect() {
      this.set(turns.hold.takeSlicesMax())
    }
  })
}
