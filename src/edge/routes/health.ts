import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { blockTime, count, localnetMark, text } from '../../kernel/http/schema.ts'
import type { EdgeNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { chainClockLagSeconds, freshnessSeconds } from '../../kernel/http/freshness.ts'
import { FRESHNESS_SECONDS_MAX, HEALTH_REASONS, reasonsOf } from './health-reasons.ts'
import { startProgress } from '../../stream/routes/start-progress.ts'

const codesOf = (reasons: readonly (typeof HEALTH_REASONS)[number][]): string =>
  reasons.map(({ code }) => `\`${code}\``).join(', ')

const reason = z
  .object({
    code: z.enum(HEALTH_REASONS.map(({ code }) => code)).describe('The fault'),
    detail: text('The fault and its effect, in a sentence')
  })
  .meta({ id: 'HealthReason' })

export const health = endpoint({
  path: '/v1/health',
  tag: 'Service',
  summary: 'Is the data fresh?',
  description: `Answers 200 while the status is \`ok\` or \`starting\`, else 503 with the same body. Data older than ${FRESHNESS_SECONDS_MAX} seconds makes the status \`degraded\`. The call does not count against any quota.`,
  scope: 'open',
  answer: z
    .object({
      status: z
        .enum(['ok', 'starting', 'degraded', 'draining'])
        .describe(
          '`starting`: a fresh localnet generates its past, and `progress` is the share that is indexed; `degraded`: at least one of `reasons` impairs the answers; `draining`: the service is stopping'
        ),
      reasons: z
        .array(reason)
        .describe(
          `Present faults; empty for a healthy service. These make the status \`degraded\`: ${codesOf(HEALTH_REASONS.filter(({ degrades }) => degrades))}. The others leave the status \`ok\`: ${codesOf(HEALTH_REASONS.filter(({ degrades }) => !degrades))}`
        ),
      progress: z
        .number()
        .optional()
        .describe("Indexed share of the localnet's past, 0 to 1; only while the status is `starting`"),
      data_freshness_seconds: count('Age of the indexed data, in seconds')
        .nullable()
        .describe(
          "Age of the indexed data, in seconds; null while no block is indexed. It counts from the arrival of the newest block if the index stands at its node's head, else from its block time"
        ),
      chain_clock_lag_seconds: count("Lag of the chain's clock, in seconds")
        .nullable()
        .describe(
          'Seconds by which the block time of the newest indexed block is behind the clock; null while no block is indexed. A large value beside fresh data means that the block times of the chain itself are behind'
        ),
      slot: count('Its slot').nullable(),
      block_time: blockTime('Its block time').nullable(),
      source: z
        .enum(['connecting', 'advancing', 'full', 'stalled', 'waiting', 'refused'])
        .nullable()
        .describe(
          'State of the block source. `advancing`: newer slots arrive; `full`: they arrive faster than they are ingested; `stalled`: connected, but no newer slot arrives; `waiting`: no node answers, and the service retries; `refused`: a retry does not help, and an operator has to change the configuration. Null for recorded blocks, and in a process that follows another process. `/v1/admin/tree` has the reason'
        ),
      version: text('The version of the service'),
      localnet: localnetMark
    })
    .meta({ id: 'Health' }),
  otherStatuses: [503],
  answersWhileDraining: true,
  examples: [{ name: 'now' }]
})

type Status = z.input<typeof health.answer>['status']
type Deps = Pick<
  EdgeNeeds,
  | 'storage'
  | 'feed'
  | 'nodeHead'
  | 'pastEnd'
  | 'clock'
  | 'version'
  | 'draining'
  | 'sourceKind'
  | 'source'
  | 'redisAway'
  | 'fleet'
  | 'leaving'
>

/** Answers from memory only, so that it works while the store is unavailable. */
export const healthRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { storage, feed, clock, version, draining, sourceKind, source, redisAway, fleet } = deps
  const { leaving = draining } = deps
  serve(app, health, async ({ reply }) => {
    const { head } = feed
    const seconds = freshnessSeconds(deps)
    const progress = startProgress(deps)
    const { state: sourceState = null, fork = null } = source() ?? {}
    const reasons = reasonsOf({
      freshnessSeconds: seconds,
      isStarting: progress !== null,
      isStoreAway: storage.outage !== null,
      isStoreDamaged: storage.damage.length > 0,
      isRedisAway: redisAway(),
      isForkLeft: fork !== null,
      missingRoles: fleet.missingRoles,
      differingSettings: fleet.differing,
      source: sourceState
    })
    const isDegraded = reasons.some(({ degrades }) => degrades)
    const running: Status = progress === null ? 'ok' : 'starting'
    const status: Status = leaving() ? 'draining' : isDegraded ? 'degraded' : running
    if (leaving() || isDegraded) void reply.code(503).header('retry-after', '1')
    return {
      status,
      reasons: reasons.map(({ code, detail }) => ({ code, detail })),
      ...(status === 'starting' && { progress: progress! }),
      data_freshness_seconds: seconds,
      chain_clock_lag_seconds: chainClockLagSeconds(head, clock.now()),
      slot: head?.slot ?? null,
      block_time: head?.blockTime ?? null,
      source: sourceState,
      version,
      ...(sourceKind === 'localnet' && { localnet: true as const })
    }
  })
}
