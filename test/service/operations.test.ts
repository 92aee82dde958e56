import t from 'tap'
import { ALERTS } from '../../src/operations/alerts.ts'
import { DASHBOARDS } from '../../src/operations/dashboards.ts'
import { ownDirectory } from '../own-directory.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'

/** Returns the metrics that a query names. */
const metricsIn = (query: string): string[] =>
  [...query.matchAll(/\b(?:millrace|nodejs|process)_\w+/g)].map(([name]) => name)

t.test('a started service has every metric that an alert or a dashboard names', async (t) => {
  const service = await startBusyLocalnetProcess(t, ownDirectory(t))
  const { body } = await service.get('/metrics', null)
  const declared = new Map(
    [...String(body.text).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!])
  )
  const isServed = (name: string): boolean =>
    declared.has(name) || declared.get(name.replace(/_(?:bucket|count|sum)$/, '')) === 'histogram'
  const named = [
    ...ALERTS.map(({ name, expr }) => [name, expr] as const),
    ...DASHBOARDS.flatMap(({ name, panels }) =>
      panels.flatMap(({ title, queries }) =>
        Object.values(queries).map((query) => [`${name}, ${title}`, query] as const)
      )
    )
  ]
  for (const [where, query] of named) {
    const names = metricsIn(query)
    t.ok(names.length > 0 || query.startsWith('up{'), `${where} names a metric`)
    for (const name of names) t.ok(isServed(name), `${where}: ${name}`)
  }
  t.notOk(isServed('millrace_no_such_metric'))
})
