import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { Caller, keyState } from '../caller.ts'
import { tenantUsageAnswer } from '../bodies/tenant-usage.ts'
import type { KeySockets } from '../key-sockets.ts'
import { listOf } from '../../kernel/http/schema.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { idPage, idPaging } from '../../kernel/http/id-page.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const tenantUsage = endpoint({
  path: '/v1/admin/tenants/usage',
  tag: 'Administration',
  summary: 'Use by tenant',
  description:
    'The use of every tenant, in order of creation: work, refusals, time and WebSockets. Counters are those of the process that answers, and begin with its start.',
  scope: 'admin',
  query: z.object(idPaging),
  answer: listOf(tenantUsageAnswer),
  errors: [ERRORS.CURSOR_INVALID],
  examples: [{ name: 'the first ten', query: { limit: '10' } }]
})

type Needs = Pick<HttpKernel, 'keys' | 'clock' | 'limits' | 'turns' | 'metrics'> & {
  readonly sockets: Pick<KeySockets, 'of'>
}

export const tenantUsageRoutes: FastifyPluginAsync<Needs> = async (
  app,
  { keys, clock, limits, turns, metrics, sockets }
) => {
  serve(app, tenantUsage, async ({ query }) => {
    const nowMs = clock.now()
    const { page, nextCursor } = idPage(keys.tenants, (tenant) => tenant.name, query)
    const rowsOf = Map.groupBy(keys.keys, (row) => row.tenant)
    const data = page.map(({ name }) => {
      const rows = rowsOf.get(name) ?? []
      const active = rows.filter((row) => keyState(row, nowMs) === 'active')
      const workLimit = active.reduce(
        (largest, { workPerMinute }) => Math.max(largest, workPerMinute ?? 0),
        keys.defaultWorkPerMinute
      )
      const work = limits.work.look(Caller.workNameOf(name), workLimit, nowMs)
      return {
        name,
        keys: active.length,
        work_limit_per_minute: workLimit,
        work_units_this_minute: Math.round(workLimit - work.left),
        work_units: Math.round(metrics.work.units.get(name) ?? 0),
        work_refused: metrics.work.refusals.get(name) ?? 0,
        answer_ms: Math.round(turns.usedMs.get(name) ?? 0),
        answers_waiting: turns.waitingOf(name),
        sockets: rows.reduce((sum, { id }) => sum + sockets.of(id), 0)
      }
    })
    return { data, nextCursor }
  })
}
