import { z } from 'zod'
import { count, text, unixMs } from './schema.ts'

const NODE = z.object({
  name: text('Its host and port'),
  archive: z.boolean().describe('Keeps all blocks, and is asked for what the others do not have'),
  state: z
    .enum(['probing', 'healthy', 'lagging', 'down', 'refused'])
    .describe('`probing`: nothing is known of it yet; `refused`: it refuses us, or is of another cluster'),
  slot: count('The newest slot that it has told of').nullable(),
  lag: count('Slots that it is behind the newest one known'),
  reason: text('Its last fault, in one line').nullable()
})

const SOURCE = z
  .object({
    state: text('As `source` of `/v1/health`'),
    reason: text('Why it does not advance, in one line').nullable(),
    head_slot: count('The newest slot that its nodes have told of').nullable(),
    nodes: z.array(NODE).readonly().describe('The stream, and each node that is asked')
  })
  .meta({ id: 'Source', description: 'How the source of blocks of a live chain does; other units have none' })

/** A unit of the running service and those below it. */
export const TREE = z
  .object({
    name: text('What the unit is called'),
    kind: z
      .enum(['supervisor', 'process'])
      .describe('A supervisor restarts what is below it; a process works'),
    strategy: z
      .enum(['one_for_one', 'one_for_all', 'rest_for_one'])
      .nullable()
      .describe('What a supervisor restarts with a unit that failed; null of a process'),
    restart: z.enum(['permanent', 'transient', 'temporary']).describe('When the unit is started again'),
    state: text('`waiting` until its turn comes, then the state of its machine'),
    instance: count('Counts its starts'),
    restarts: count('Starts after a fault'),
    started_at: unixMs('When this instance started', 'service').nullable(),
    last_error: z
      .object({ message: text('What went wrong'), at: unixMs('When', 'service') })
      .nullable()
      .describe('Its last fault; null when there was none'),
    gauges: z.record(z.string(), z.number()).describe('What the unit counts, by name'),
    source: SOURCE.optional(),
    get children() {
      return z.array(TREE).readonly()
    }
  })
  .meta({ id: 'Unit', description: 'A supervisor or process of the service' })

export type TreeBody = z.input<typeof TREE>
