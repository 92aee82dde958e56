import { z } from 'zod'
import { count, listOf, text, unixMs } from '../../kernel/http/schema.ts'

const role = z.enum(['ingest', 'gateway', 'delivery'])

const PROCESS = z
  .object({
    id: text('Random id of the process for its lifetime'),
    name: text('Its host and process id'),
    is_this: z.boolean().describe('Whether this process answers'),
    roles: z.array(role).readonly().describe('Its roles'),
    products: z
      .array(z.string())
      .readonly()
      .nullable()
      .describe(
        'Products that it serves as a gateway (`MILLRACE_PRODUCTS`); empty without that role, null from a version without the setting'
      ),
    version: text('Its version'),
    started_at: unixMs('Its start', 'service'),
    state: z.enum(['running', 'draining']).describe('`draining`: it was asked to stop'),
    slot: count('The newest slot that it serves; null before the first block').nullable(),
    lag_slots: count(
      'Slots behind the newest slot of all processes, as announced up to a second apart; null before the first block'
    ).nullable(),
    shards: z
      .record(z.string(), z.array(z.string()).readonly())
      .describe('Names of the shards that it owns, by product. The process that ingests has `ingest`'),
    differs: z
      .array(z.string())
      .readonly()
      .describe('Settings that differ from those of its peers, by variable; their values are not shown'),
    heard_ms_ago: count('Milliseconds since its last announcement; 0 for this process')
  })
  .meta({ id: 'FleetProcess' })

/** The processes of the service. */
export const fleetAnswer = listOf(PROCESS).extend({
  source: z
    .enum(['redis', 'store', 'alone'])
    .nullable()
    .describe(
      'Where the announcements were read. `alone`: no other process can open the store. Null before the first are read'
    ),
  roles: z
    .array(
      z.object({
        role: role.describe('The role'),
        processes: count('Live processes that have it'),
        is_missing: z
          .boolean()
          .describe(
            'Whether no process has had it for 5 s, so that requests which need it get `role_missing`'
          )
      })
    )
    .readonly()
    .describe('Every role')
})
