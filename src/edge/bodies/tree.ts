import { z } from 'zod'
import { count, text, unixMs } from '../../kernel/http/schema.ts'

const NODE = z.object({
  name: text('Its host and port'),
  archive: z
    .boolean()
    .describe('Whether it is an archive node, used for blocks that the other nodes no longer have'),
  state: z
    .enum(['probing', 'healthy', 'lagging', 'down', 'refused'])
    .describe(
      '`probing`: its state is not known yet; `refused`: it refuses the service, or is of another cluster'
    ),
  slot: count('The newest slot that it has reported').nullable(),
  lag: count('Slots behind the newest known slot'),
  reason: text('Its last fault, in one line').nullable()
})

const SOURCE = z
  .object({
    state: text('As `source` in `/v1/health`'),
    reason: text('Reason why it does not advance, in one line').nullable(),
    head_slot: count('The newest slot reported by its nodes').nullable(),
    nodes: z.array(NODE).readonly().describe('The stream, and each node in use')
  })
  .meta({ id: 'Source', description: 'Status of a live source of blocks; other units have none' })

/** Schema of a unit of the running service, with its children. */
export const TREE = z
  .object({
    name: text('Name of the unit'),
    kind: z
      .enum(['supervisor', 'process'])
      .describe('A supervisor restarts the units below it; a process does the work'),
    strategy: z
      .enum(['one_for_one', 'one_for_all', 'rest_for_one', 'simple_one_for_one'])
      .nullable()
      .describe(
        'Units that a supervisor restarts with a failed one; null for a process. Members of a `simple_one_for_one` supervisor, such as deliveries, come and go: they are counted by its `gauges`, `running` and `waiting` for their restart'
      ),
    restart: z
      .enum(['permanent', 'transient', 'temporary'])
      .describe(
        'Condition of a restart: `permanent`: always; `transient`: after a crash; `temporary`: never'
      ),
    state: text('`waiting` until the unit is started, then the state of its machine'),
    instance: count('Number of starts; a new number is a new instance'),
    restarts: count('Starts after a fault'),
    started_at: unixMs('Start of this instance', 'service').nullable(),
    last_error: z
      .object({ message: text('The fault'), at: unixMs('Time of the fault', 'service') })
      .nullable()
      .describe('Its last fault; null if it never failed'),
    gauges: z.record(z.string(), z.number()).describe('Gauges of the unit, by name'),
    source: SOURCE.optional(),
    get children() {
      return z.array(TREE).readonly()
    }
  })
  .meta({ id: 'Unit', description: 'A supervisor or process of the service' })

export type TreeBody = z.input<typeof TREE>
