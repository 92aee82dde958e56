import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { keyState } from '../caller.ts'
import { tenantAnswer, tenantBody } from '../bodies/api-key.ts'
import { listOf } from '../../kernel/http/schema.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { idPage, idPaging } from '../../kernel/http/id-page.ts'

/** A tenant's name, which is also its id. */
export const tenantName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -, and not begin with -')
  .describe('A tenant, by name')

export const createTenant = endpoint({
  method: 'POST',
  path: '/v1/admin/tenants',
  tag: 'Administration',
  summary: 'Create a tenant',
  description: 'A tenant owns keys. Answers to its keys contain its name.',
  scope: 'admin',
  body: z.object({ name: tenantName }),
  status: 201,
  answer: tenantAnswer,
  isIdempotent: true,
  shownBy: 'GET /v1/admin/tenants',
  errors: ['TENANT_EXISTS', 'TENANT_LIMIT_REACHED'],
  examples: [{ name: 'a tenant', body: { name: 'acme' } }]
})

export const listTenants = endpoint({
  path: '/v1/admin/tenants',
  tag: 'Administration',
  summary: 'List tenants',
  description: 'Every tenant, in order of creation.',
  scope: 'admin',
  query: z.object(idPaging),
  answer: listOf(tenantAnswer),
  errors: ['CURSOR_INVALID'],
  examples: [{ name: 'the first ten', query: { limit: '10' } }]
})

export const adminTenantRoutes: FastifyPluginAsync<Pick<AppDeps, 'keys' | 'clock'>> = async (
  app,
  { keys, clock }
) => {
  serve(app, createTenant, async ({ body, once }) => {
    const created = await once(
      body,
      async () => randomUUID(),
      ({ id: operation }) => keys.createTenant(body.name, clock.now(), operation)
    )
    return tenantBody(created, 0)
  })

  serve(app, listTenants, async ({ query, caller }) => {
    const nowMs = clock.now()
    const working = Map.groupBy(
      keys.keys.filter((row) => keyState(row, nowMs) === 'active'),
      (row) => row.tenant
    )
    const { page, nextCursor } = idPage(keys.tenants, (tenant) => tenant.name, query)
    const data = page.map((tenant) => tenantBody(tenant, working.get(tenant.name)?.length ?? 0))
    return { tenant: caller?.tenant ?? '', data, nextCursor }
  })
}
