import { Registry } from 'prom-client'
import t from 'tap'
import { workMetrics } from '../../../src/kernel/telemetry/work-metrics.ts'
import { Turns } from '../../../src/kernel/work/turns.ts'
import { settle, virtualClock } from '../../virtual-time.ts'

t.test('the metrics of work say the time and the waiting answers of each tenant', async (t) => {
  const clock = virtualClock()
  const registry = new Registry()
  const turns = new Turns({
    clock,
    elapsedMs: () => clock.now(),
    afterSockets: (run) => void setImmediate(run)
  })
  workMetrics(registry, turns)
  await turns.run('beta', () => void clock.increment(1_500))
  // Work that comes in a later turn of the event loop begins at once.
  await settle()
  const end = Promise.withResolvers<void>()
  const running = Array.from({ length: 9 }, () => turns.run('acme', () => end.promise))
  const said = await registry.metrics()
  t.match(said, 'millrace_work_seconds_total{tenant="beta"} 1.5')
  t.match(said, 'millrace_work_waiting{tenant="acme"} 3')
  t.match(said, 'millrace_work_waiting{tenant="beta"} 0')
  end.resolve()
  await Promise.all(running)
  t.match(await registry.metrics(), 'millrace_work_waiting{tenant="acme"} 0')
})

t.test('a scrape shows the longest hold of the event loop since the scrape before', async (t) => {
  const clock = virtualClock()
  const registry = new Registry()
  const turns = new Turns({
    clock,
    elapsedMs: () => clock.now(),
    afterSockets: (run) => void setImmediate(run)
  })
  workMetrics(registry, turns)
  const slice = (): void => void clock.increment(2)
  // Two answers begin before the sockets are polled.
  await Promise.all([turns.run('acme', slice), turns.run('beta', slice)])
  await settle()
  await turns.run('acme', slice)
  await settle()
  const said = await registry.metrics()
  t.match(said, 'millrace_work_slices_max 2')
  t.match(said, 'millrace_work_hold_max_seconds 0.004')
  await turns.run('acme', slice)
  await settle()
  const later = await registry.metrics()
  t.match(later, 'millrace_work_slices_max 1')
  t.match(later, 'millrace_work_hold_max_seconds 0.002')
})
