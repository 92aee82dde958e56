import type { FastifyInstance } from 'fastify'
import { Answers } from './answers.ts'
import type { AppDeps } from './deps.ts'
import type { Served } from './endpoint.ts'
import { expressLane } from './express-lane.ts'
import { access } from './plugins/access.ts'
import { preflights } from './plugins/cors.ts'
import { problems } from './plugins/problems.ts'
import { requests } from './plugins/requests.ts'
import { adminCoverageRoutes } from './routes/admin-coverage.ts'
import { adminKeyRoutes } from './routes/admin-keys.ts'
import { adminRecordedRoutes } from './routes/admin-recorded.ts'
import { adminStorageRoutes } from './routes/admin-storage.ts'
import { adminTenantRoutes } from './routes/admin-tenants.ts'
import { adminRoutes } from './routes/admin.ts'
import { bondingCurveRoutes } from './routes/bonding-curve.ts'
import { candleRoutes } from './routes/candles.ts'
import { docsRoutes } from './routes/docs.ts'
import { healthRoutes } from './routes/health.ts'
import { launchRoutes } from './routes/launches.ts'
import { meRoutes } from './routes/me.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { isHandshake } from './handshake.ts'
import { listenerApp } from './listener.ts'
import { requestIds } from './request-id.ts'
import { poolActivityRoutes } from './routes/pool-activity.ts'
import { priceRoutes } from './routes/price.ts'
import { problemRoutes } from './routes/problems.ts'
import { tokenPoolRoutes } from './routes/token-pools.ts'
import { tokenRoutes } from './routes/token.ts'
import { statsRoutes } from './routes/stats.ts'
import { streamRoutes } from './routes/stream.ts'
import { tradeRoutes } from './routes/trades.ts'
import { trendingRoutes } from './routes/trending.ts'
import { walletTradeRoutes } from './routes/wallet-trades.ts'

/** No endpoint of the Data API takes a body; this bounds what is read before one is refused. */
const BODY_BYTES_MAX = 64 * 1024

/** Node refuses a longer request line and headers, so that every path reaches a route, which says what is wrong. */
const URL_BYTES_MAX = 16 * 1024

/** Builds the HTTP service; it does not listen. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const nextRequestId = requestIds()
  const answers = new Answers(deps.feed, deps.clock, { bytesMax: deps.answerBytes })
  const app = listenerApp(deps, {
    bodyBytesMax: BODY_BYTES_MAX,
    pathParameterLengthMax: URL_BYTES_MAX,
    nextRequestId,
    upgrades: isHandshake,
    inFront: (framework) => expressLane(deps, answers, nextRequestId, framework)
  })
  const unfollow = answers.follow()
  app.addHook('onClose', async () => unfollow())
  app.decorate('answers', answers)
  app.decorate('served', [])
  void app.register(problems)
  void app.register(requests, deps)
  void app.register(preflights, deps)
  void app.register(access, deps)
  void app.register(healthRoutes, deps)
  void app.register(launchRoutes, deps)
  void app.register(tradeRoutes, deps)
  void app.register(candleRoutes, deps)
  void app.register(priceRoutes, deps)
  void app.register(statsRoutes, deps)
  void app.register(trendingRoutes, deps)
  void app.register(tokenRoutes, deps)
  void app.register(tokenPoolRoutes, deps)
  void app.register(bondingCurveRoutes, deps)
  void app.register(poolActivityRoutes, deps)
  void app.register(walletTradeRoutes, deps)
  void app.register(meRoutes, deps)
  void app.register(streamRoutes, deps)
  void app.register(adminTenantRoutes, deps)
  void app.register(adminKeyRoutes, deps)
  void app.register(adminRoutes, deps)
  void app.register(adminCoverageRoutes, deps)
  void app.register(adminRecordedRoutes, deps)
  void app.register(adminStorageRoutes, deps)
  void app.register(metricsRoutes, deps)
  void app.register(docsRoutes, deps)
  void app.register(problemRoutes)
  return app
}

declare module 'fastify' {
  interface FastifyInstance {
    /** What has been answered and still holds. */
    answers: Answers
    /** Every endpoint that is declared and served. */
    served: Served[]
  }
}
