import type { FastifyPluginAsync } from 'fastify'
import { WINDOW_SECONDS } from '../rate-seconds.ts'
import { WorkBudget } from '../work-budget.ts'
import type { Scope } from '../scopes.ts'
import { momentText } from '../bodies/api-key.ts'
import { ME } from '../bodies/me.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'

export const me = endpoint({
  path: '/v1/me',
  tag: 'Account',
  summary: 'The key in use',
  description: 'Owner, scopes, limits and remaining quota of the key in use.',
  scope: 'any-key',
  answer: ME,
  examples: [{ name: 'the calling key' }]
})

export const meRoutes: FastifyPluginAsync<Pick<HttpKernel, 'limits' | 'clock'>> = async (
  app,
  { limits, clock }
) => {
  const budget = new WorkBudget(limits.work)
  serve(app, me, async ({ caller }) => {
    if (caller === null) throw new Error('/v1/me was reached without a key')
    const { row, ratePerMinute } = caller
    const use = await limits.look(row.id, ratePerMinute, clock.now())
    const work = budget.look(caller, clock.now())
    return {
      tenant: row.tenant,
      key_id: row.id,
      prefix: row.prefix,
      name: row.name,
      scopes: row.scopes as Scope[],
      limits: {
        rate_limit_per_minute: ratePerMinute,
        work_limit_per_minute: caller.workPerMinute,
        export_rows_per_day: caller.exportRowsPerDay,
        window_seconds: WINDOW_SECONDS
      },
      usage: {
        calls: ratePerMinute - use.left,
        remaining: use.left,
        work_remaining: work.left,
        export_rows_remaining: await app.exports.left(caller),
        resets_at: use.resetAt
      },
      expires_at: row.expiresAtMs === null ? null : momentText(row.expiresAtMs),
      allowed_ips: [...row.allowedIps],
      cors_origins: [...row.corsOrigins]
    }
  })
}
