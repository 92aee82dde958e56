import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { tableOf } from '../../kernel/cli/table.ts'
import { planOf } from '../plan.ts'
import { readWorkload } from '../workload.ts'
import { PLAN_COLUMNS, PRECISION, planRows } from './plan-rows.ts'

/** Prints what a workload takes. */
export async function plan({
  options,
  stdout
}: Invocation<Readonly<Record<string, string | readonly string[] | true | undefined>>>): Promise<number> {
  const reading = readWorkload(options)
  if (!reading.ok) throw new BadUsage(reading.problems.join('\n'))
  const { workload } = reading
  const computed = planOf(workload)
  if (options['json'] === true) stdout(JSON.stringify({ workload, ...computed }))
  else for (const line of [...tableOf(PLAN_COLUMNS, planRows(computed)), '', PRECISION]) stdout(line)
  return 0
}
