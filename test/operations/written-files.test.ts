import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { HEALTH_REASONS } from '../../src/edge/routes/health-reasons.ts'
import { errorsOf } from '../../src/kernel/compose/product.ts'
import { ALERTS } from '../../src/operations/alerts.ts'
import { runbookText } from '../../src/operations/runbook.ts'
import { writtenFiles } from '../../src/operations/written-files.ts'
import { PROGRAM } from '../../src/program.ts'
import { ROOT } from '../house/sources.ts'

t.test('the written files are those of the declarations', async (t) => {
  for (const [path, text] of await writtenFiles())
    t.equal(
      existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '',
      text,
      `${path}: run node src/operations/write.ts`
    )
})

t.test(
  'the runbook has an entry for each alert, reason of health and problem code of the operator',
  async (t) => {
    const errors = errorsOf(await PROGRAM.products())
    const text = runbookText({ alerts: ALERTS, reasons: HEALTH_REASONS, errors })
    const titles = [...text.matchAll(/^### `?(\w+)`?$/gm)].map(([, title]) => title)
    t.strictSame(titles, [
      ...ALERTS.map(({ name }) => name),
      ...HEALTH_REASONS.map(({ code }) => code),
      ...new Set(errors.filter(({ status }) => status >= 500).map(({ code }) => code))
    ])
    const added = { ...errors[0]!, status: 599, code: 'added_code' }
    t.throws(
      () => runbookText({ alerts: [], reasons: HEALTH_REASONS, errors: [added] }),
      /problem-notes\.ts has no note for added_code/
    )
  }
)
