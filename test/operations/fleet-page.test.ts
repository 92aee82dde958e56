import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ALERTS } from '../../src/operations/alerts.ts'
import { ROOT } from '../house/sources.ts'
import { processMetrics } from '../products/process-metrics.ts'

const page = readFileSync(join(ROOT, 'src/docs/fleet.md'), 'utf8')
/** Rows of a section's table, as cells. */
const rowsOf = (heading: string): string[][] => {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(/ *\| */).slice(1, -1))
}

t.test('the alerts of the page on fleets are those of the rules, with their conditions', async (t) => {
  const rows = rowsOf('Alerts')
  t.ok(rows.length >= 8)
  for (const [name = '', condition, time] of rows) {
    const alert = ALERTS.find((each) => `\`${each.name}\`` === name)
    t.ok(alert, name)
    t.equal(condition, `\`${alert?.expr}\``, name)
    t.equal(time, alert?.for, name)
  }
})

t.test('every metric of an alert, and of the page on fleets, exists', async (t) => {
  const { registry } = processMetrics()
  const known = new Set(registry.getMetricsAsArray().map(({ name }) => name))
  const named = (text: string): string[] => text.match(/\b(?:millrace|nodejs|process)_[a-z0-9_]+/g) ?? []
  const all = [
    ...ALERTS.flatMap(({ expr }) => named(expr)),
    ...rowsOf('How many').flatMap(([cell]) => named(cell!))
  ]
  t.ok(all.length > 20)
  for (const name of new Set(all)) t.ok(known.has(name.replace(/_(count|bucket|sum)$/, '')), name)
})
