import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { text } from '../../kernel/http/schema.ts'
import { serve } from '../../kernel/http/serve.ts'
import type { EdgeNeeds } from './needs.ts'

export const live = endpoint({
  path: '/live',
  tag: 'Service',
  summary: 'Does the process run?',
  description:
    'Answers 200 as long as the process answers at all, whatever its servers do: a restart would not help them. For the liveness probe of an orchestrator.',
  scope: 'open',
  answer: z.object({ status: z.literal('live').describe('Always `live`') }).meta({ id: 'Live' }),
  answersWhileDraining: true,
  examples: [{ name: 'now' }]
})

const READINESS = ['draining', 'store_away', 'index_loading', 'source_refused'] as const

const roleState = z
  .object({
    role: z.enum(['ingest', 'gateway', 'delivery']).describe('A role of this process'),
    is_ready: z.boolean().describe('Whether the process does the work of the role'),
    reasons: z
      .array(z.enum(READINESS))
      .readonly()
      .describe(
        '`draining`: it was asked to stop; `store_away`: the store does not answer; `index_loading`: trends and stats are being loaded; `source_refused`: the block source refuses the configuration'
      )
  })
  .meta({ id: 'RoleReadiness' })

export const ready = endpoint({
  path: '/ready',
  tag: 'Service',
  summary: 'Should the process get requests?',
  description:
    'Answers 200 while the process does the work of all its roles, else 503 with the same body. For balancers and readiness probes. Old data, missing roles and differing settings are reasons of `/v1/health`, not of this answer: they concern all processes alike, and a balancer must not take all of them out.',
  scope: 'open',
  answer: z
    .object({
      status: z
        .enum(['ready', 'waiting', 'draining'])
        .describe('`waiting`: at least one role is not ready; `draining`: the process was asked to stop'),
      roles: z.array(roleState).readonly().describe('Each role of this process'),
      version: text('The version of the service')
    })
    .meta({ id: 'Ready' }),
  otherStatuses: [503],
  answersWhileDraining: true,
  examples: [{ name: 'now' }]
})

type Deps = Pick<EdgeNeeds, 'storage' | 'draining' | 'leaving' | 'source' | 'roles' | 'isLoading' | 'version'>
type Reason = (typeof READINESS)[number]

/** Both answer from memory only. */
export const probeRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { storage, draining, leaving = draining, source, roles, isLoading, version } = deps
  serve(app, live, async () => ({ status: 'live' as const }))
  serve(app, ready, async ({ reply }) => {
    const shared: Reason[] = [
      ...(leaving() ? (['draining'] as const) : []),
      ...(storage.outage === null ? [] : (['store_away'] as const))
    ]
    const states = roles.map((role) => {
      const reasons = [...shared]
      if (role === 'gateway' && isLoading()) reasons.push('index_loading')
      if (role === 'ingest' && source()?.state === 'refused') reasons.push('source_refused')
      return { role, is_ready: reasons.length === 0, reasons }
    })
    const isReady = states.every(({ is_ready }) => is_ready)
    if (!isReady) void reply.code(503).header('retry-after', '1')
    return {
      status: leaving() ? ('draining' as const) : isReady ? ('ready' as const) : ('waiting' as const),
      roles: states,
      version
    }
  })
}
