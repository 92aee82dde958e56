import fc from 'fast-check'
import { Histogram, Registry } from 'prom-client'
import t from 'tap'
import { RequestSeconds } from '../../src/kernel/telemetry/request-seconds.ts'
import { randomRuns } from '../random-runs.ts'

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

t.test('a scrape of any requests has the lines that the histogram of prom-client has', async (t) => {
  const request = fc.record({
    route: fc.constantFrom('/v1/launches', '/v1/tokens/:mint/price', 'unknown', 'a "route"\\'),
    status: fc.constantFrom(200, 304, 404),
    seconds: fc.oneof(fc.constantFrom(0, ...BUCKETS), fc.double({ min: 0, max: 10, noNaN: true }))
  })
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 50 }), async (requests) => {
      const [ours, theirs] = [new Registry(), new Registry()]
      const seconds = new RequestSeconds(ours)
      const histogram = new Histogram({
        name: seconds.name,
        help: seconds.help,
        labelNames: ['route', 'status'],
        buckets: BUCKETS,
        registers: [theirs]
      })
      for (const { route, status, seconds: value } of requests) {
        seconds.observe(route, status, value)
        histogram.observe({ route, status }, value)
      }
      t.strictSame(linesOf(await ours.metrics()), linesOf(await theirs.metrics()))
    }),
    randomRuns(100)
  )
})

t.test('a reset histogram starts again from zero', async (t) => {
  const registry = new Registry()
  const seconds = new RequestSeconds(registry)
  seconds.observe('/v1/launches', 200, 1)
  t.match(await registry.metrics(), '_count{route="/v1/launches",status="200"} 1')
  registry.resetMetrics()
  t.notMatch(await registry.metrics(), '_count')
})

/** Sorts lines and labels: series appear in the order of their first use, and labels in no fixed order. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`))
    .sort()
}
