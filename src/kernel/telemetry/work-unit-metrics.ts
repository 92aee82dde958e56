import { Counter, type Registry } from 'prom-client'
import { WorkTally } from '../../access/work-tally.ts'

/** Registers the metrics of the quota of work, and returns the tally behind them. */
export function workUnitMetrics(registry: Registry): WorkTally {
  const tally = new WorkTally()
  counterOf(
    registry,
    { name: 'millrace_work_units_total', help: 'Units of work charged to keys, by tenant' },
    () => tally.units
  )
  counterOf(
    registry,
    {
      name: 'millrace_work_refused_total',
      help: 'Calls, elements and channels refused because the work of a key or tenant was used up, by tenant'
    },
    () => tally.refusals
  )
  return tally
}

function counterOf(
  registry: Registry,
  about: { readonly name: string; readonly help: string },
  counts: () => ReadonlyMap<string, number>
): void {
  new Counter({
    ...about,
    labelNames: ['tenant'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [tenant, count] of counts()) this.inc({ tenant }, count)
    }
  })
}
