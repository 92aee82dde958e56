import type { Alert } from './alert.ts'

/** Page with an entry for each alert. */
const RUNBOOK = 'src/docs/runbook.md'

/** Returns alerts as a file of Prometheus rules. */
export function rulesText(alerts: readonly Alert[]): string {
  const rules = alerts.map(({ name, severity, expr, for: duration, summary, meaning }) =>
    [
      `      - alert: ${name}`,
      `        expr: ${JSON.stringify(expr)}`,
      `        for: ${duration}`,
      `        labels: { severity: ${severity} }`,
      '        annotations:',
      `          summary: ${JSON.stringify(summary)}`,
      `          description: ${JSON.stringify(meaning)}`,
      `          runbook: ${RUNBOOK}#${name.toLowerCase()}`
    ].join('\n')
  )
  return [
    '# Written by `node src/operations/write.ts` from src/operations/alerts.ts.',
    'groups:',
    '  - name: millrace',
    '    rules:',
    ...rules,
    ''
  ].join('\n')
}
