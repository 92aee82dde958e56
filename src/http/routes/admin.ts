import type { FastifyPluginAsync } from 'fastify'
import type { AppDeps } from '../app.ts'

type Deps = Pick<AppDeps, 'tree' | 'decoding'>

/** The operator's views. */
export const adminRoutes: FastifyPluginAsync<Deps> = async (app, { tree, decoding }) => {
  const config = { scope: 'admin', answersWhileDraining: true } as const
  app.get('/v1/admin/tree', { config }, async () => tree())
  app.get('/v1/admin/decoding', { config }, async () => ({ venues: decoding.body() }))
}
