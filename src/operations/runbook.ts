import type { HEALTH_REASONS } from '../edge/routes/health-reasons.ts'
import type { ErrorKind } from '../kernel/error-kind.ts'
import type { Alert, OperatorNote } from './alert.ts'
import { HEALTH_NOTES } from './health-notes.ts'
import { PROBLEM_NOTES } from './problem-notes.ts'

export interface RunbookFacts {
  readonly alerts: readonly Alert[]
  readonly reasons: typeof HEALTH_REASONS
  readonly errors: readonly ErrorKind[]
}

/**
 * Returns the page for operators: an entry for each alert, each reason of health, and each problem code of status 500 or
 * more. Throws if a code has no note.
 */
export function runbookText({ alerts, reasons, errors }: RunbookFacts): string {
  const ofOperator = errors.filter(
    ({ status, code }, at) => status >= 500 && errors.findIndex((each) => each.code === code) === at
  )
  return [
    '# Runbook',
    '',
    '<!-- Written by `node src/operations/write.ts` from the declarations in src/operations. -->',
    '',
    'Actions for each alert, each reason of `/v1/health`, and each problem code of status 500 or more. Start with',
    '`/v1/health`, then `/v1/admin/tree` with the admin key, then the log.',
    '',
    '## Alerts',
    '',
    'The rules are in [`millrace.rules.yml`](../operations/prometheus/millrace.rules.yml).',
    '',
    ...alerts.flatMap((alert) => [
      ...entry(alert.name, `${alert.severity}, \`${alert.expr}\` for ${alert.for}`, alert)
    ]),
    '## Reasons of health',
    '',
    ...reasons.flatMap(({ code, detail, degrades }) =>
      entry(`\`${code}\``, degrades ? 'the answer is 503' : 'the answer stays 200', {
        meaning: `${detail[0]!.toUpperCase()}${detail.slice(1)}.`,
        ...HEALTH_NOTES[code]
      })
    ),
    '## Problem codes',
    '',
    ...ofOperator.flatMap(({ status, code, meaning }) =>
      entry(`\`${code}\``, `status ${status}`, { meaning, ...noteOf(code) })
    )
  ]
    .join('\n')
    .replace(/\n+$/, '\n')
}

function entry(title: string, condition: string, { meaning, look, action }: OperatorNote): string[] {
  return [
    `### ${title}`,
    '',
    `- **When:** ${condition}`,
    `- **Meaning:** ${meaning}`,
    `- **Look at:** ${look}`,
    `- **Do:** ${action}`,
    ''
  ]
}

function noteOf(code: string): Omit<OperatorNote, 'meaning'> {
  const note = PROBLEM_NOTES[code]
  if (note === undefined) throw new Error(`src/operations/problem-notes.ts has no note for ${code}`)
  return note
}
