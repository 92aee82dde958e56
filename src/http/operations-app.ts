import type { FastifyInstance } from 'fastify'
import { Answers } from './answers.ts'
import type { AppDeps } from './deps.ts'
import { listenerApp } from './listener.ts'
import { access } from './plugins/access.ts'
import { problems } from './plugins/problems.ts'
import { requests } from './plugins/requests.ts'
import { requestIds } from './request-id.ts'
import { adminCoverageRoutes } from './routes/admin-coverage.ts'
import { adminRecordedRoutes } from './routes/admin-recorded.ts'
import { adminStorageRoutes } from './routes/admin-storage.ts'
import { adminRoutes } from './routes/admin.ts'
import { healthRoutes } from './routes/health.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { problemRoutes } from './routes/problems.ts'

/**
 * What a process answers that is no gateway: how it is, to probes and to the operator. None of it takes a body; the
 * process serves no data. It does not listen.
 */
export function operationsApp(deps: Omit<AppDeps, 'stream'>): FastifyInstance {
  const app = listenerApp(deps, {
    bodyBytesMax: 1024,
    nextRequestId: requestIds(),
    upgrades: () => false
  })
  app.decorate('answers', new Answers(deps.feed, deps.clock))
  app.decorate('served', [])
  void app.register(problems)
  void app.register(requests, deps)
  void app.register(access, deps)
  void app.register(healthRoutes, deps)
  void app.register(adminRoutes, deps)
  void app.register(adminCoverageRoutes, deps)
  void app.register(adminRecordedRoutes, deps)
  void app.register(adminStorageRoutes, deps)
  void app.register(metricsRoutes, deps)
  void app.register(problemRoutes)
  return app
}
