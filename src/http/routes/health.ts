import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { blockTime, count, localnetMark, text } from '../../api/schema.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serve } from '../endpoint.ts'
import { freshnessSeconds } from '../freshness.ts'
import { FRESHNESS_SECONDS_MAX, HEALTH_REASONS, reasonsOf } from '../health-reasons.ts'

const codesOf = (reasons: readonly (typeof HEALTH_REASONS)[number][]): string =>
  reasons.map(({ code }) => `\`${code}\``).join(', ')

const reason = z
  .object({
    code: z.enum(HEALTH_REASONS.map(({ code }) => code)).describe('What is wrong'),
    detail: text('What is wrong, and what that means, in a sentence')
  })
  .meta({ id: 'HealthReason' })

export const health = endpoint({
  path: '/v1/health',
  tag: 'Service',
  summary: 'Is the data fresh?',
  description: `200 while the newest indexed block is at most ${FRESHNESS_SECONDS_MAX} seconds old and the store answers, else 503 with the same body. Not counted against any quota.`,
  scope: 'open',
  answer: z
    .object({
      status: z
        .enum(['ok', 'degraded', 'draining'])
        .describe(
          '`degraded`: at least one of `reasons` impairs the answers; `draining`: the service is stopping'
        ),
      reasons: z
        .array(reason)
        .describe(
          `What is away or wrong at the moment; empty while nothing is. These make the status \`degraded\`: ${codesOf(HEALTH_REASONS.filter(({ degrades }) => degrades))}. With the others the service goes on, and the status stays \`ok\`: ${codesOf(HEALTH_REASONS.filter(({ degrades }) => !degrades))}`
        ),
      data_freshness_seconds: count('Age of the newest indexed block, in seconds')
        .nullable()
        .describe('Age of the newest indexed block, in seconds; null while there is none'),
      slot: count('Its slot').nullable(),
      block_time: blockTime('When it was made').nullable(),
      source: z
        .enum(['connecting', 'advancing', 'full', 'stalled', 'waiting', 'refused'])
        .nullable()
        .describe(
          'How the source of blocks does: `advancing`: newer slots come; `full`: they come faster than they are taken; `stalled`: it is connected and none comes; `waiting`: it has no node and tries again; `refused`: waiting does not help, an operator has to see to it. Null where blocks are recorded, or come by way of another process; the reason is in `/v1/admin/tree`'
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
  AppDeps,
  'storage' | 'feed' | 'clock' | 'version' | 'draining' | 'sourceKind' | 'source' | 'redisAway'
>

/** Answers from memory alone, so that it does so also while the store is away. */
export const healthRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { storage, feed, clock, version, draining, sourceKind, source, redisAway } = deps
  serve(app, health, async ({ reply }) => {
    const { head } = feed
    const seconds = freshnessSeconds(head, clock.now())
    const { state: sourceState = null, fork = null } = source() ?? {}
    const reasons = reasonsOf({
      freshnessSeconds: seconds,
      isStoreAway: storage.outage !== null,
      isStoreDamaged: storage.damage.length > 0,
      isRedisAway: redisAway(),
      isForkLeft: fork !== null,
      source: sourceState
    })
    const isDegraded = reasons.some(({ degrades }) => degrades)
    const status: Status = draining() ? 'draining' : isDegraded ? 'degraded' : 'ok'
    if (status !== 'ok') void reply.code(503).header('retry-after', '1')
    return {
      status,
      reasons: reasons.map(({ code, detail }) => ({ code, detail })),
      data_freshness_seconds: seconds,
      slot: head?.slot ?? null,
      block_time: head?.blockTime ?? null,
      source: sourceState,
      version,
      ...(sourceKind === 'localnet' && { localnet: true as const })
    }
  })
}
