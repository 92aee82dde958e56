import { HEALTH_REASONS } from '../edge/routes/health-reasons.ts'
import { errorsOf } from '../kernel/compose/product.ts'
import { PROGRAM } from '../program.ts'
import { ALERTS } from './alerts.ts'
import { capacityText } from './capacity-page.ts'
import { dashboardText } from './dashboard.ts'
import { DASHBOARDS } from './dashboards.ts'
import { rulesText } from './rules.ts'
import { runbookText } from './runbook.ts'

/** Returns the texts of the files that follow from declarations, by their paths in the project. */
export async function writtenFiles(): Promise<ReadonlyMap<string, string>> {
  const errors = errorsOf(await PROGRAM.products())
  return new Map([
    ['src/docs/capacity.md', capacityText()],
    ['src/docs/runbook.md', runbookText({ alerts: ALERTS, reasons: HEALTH_REASONS, errors })],
    ['src/operations/prometheus/millrace.rules.yml', rulesText(ALERTS)],
    ...DASHBOARDS.map(
      (dashboard) => [`src/operations/grafana/${dashboard.name}.json`, dashboardText(dashboard)] as const
    )
  ])
}
