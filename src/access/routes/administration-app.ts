import fastify, { type FastifyInstance } from 'fastify'
import { CommitFeed } from '../../kernel/feed/commit-feed.ts'
import { processTurns, Turns } from '../../kernel/work/turns.ts'
import { ResponseCache } from '../../kernel/http/response-cache.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { problems } from '../../kernel/http/plugins/problems.ts'
import { adminKeyRoutes } from './admin-keys.ts'
import { adminTenantRoutes } from './admin-tenants.ts'
import { UnreadAnswers } from '../../kernel/http/unread-answers.ts'

/**
 * Builds the routes that manage tenants and keys, without access control: for a caller who has the store itself. The app
 * is called through `inject` and never listens.
 */
export function administrationApp(deps: Pick<AppDeps, 'keys' | 'clock'>): FastifyInstance {
  const app = fastify({ logger: false })
  app.decorate('responseCache', new ResponseCache(new CommitFeed(), deps.clock))
  app.decorate('idempotency', null)
  app.decorate('turns', new Turns(processTurns(deps.clock)))
  app.decorate('unreadAnswers', new UnreadAnswers())
  app.decorate('served', [])
  app.decorateRequest('caller', null)
  void app.register(problems)
  void app.register(adminTenantRoutes, deps)
  void app.register(adminKeyRoutes, deps)
  return app
}
