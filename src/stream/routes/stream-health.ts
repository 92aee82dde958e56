import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { count, unixMs } from '../../kernel/http/schema.ts'
import { shownHead, splitCursor } from '../../market/cursor.ts'
import type { SlotRow } from '../../market/rows.ts'
import type { Place } from '../messages.ts'
import type { StreamNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { freshnessSeconds } from '../../kernel/http/freshness.ts'
import { STREAM_PATH } from '../../kernel/http/handshake.ts'
import { FRESHNESS_SECONDS_MAX } from '../../edge/routes/health-reasons.ts'
import { startProgress } from './start-progress.ts'

const place = (what: string) =>
  z.object({
    cursor: count(`Cursor of ${what}`),
    slot: count('Slot'),
    ts_ms: unixMs('Time of its block', 'block')
  })
const HORIZON_PLACE = place('the replay horizon').extend({
  seconds: count('Seconds of block time from there to the newest block')
})
const HEAD = 'The newest published block; null while there is no block'
const HORIZON = 'Replay horizon: the oldest cursor that a replay can start from; null while there is no block'

export const streamHealth = endpoint({
  path: '/v1/stream/health',
  tag: 'Service',
  summary: 'Is the stream fresh?',
  description: `Answers 200 while the indexed data is at most ${FRESHNESS_SECONDS_MAX} seconds old, and while a fresh localnet generates its past, else 503 with the same body. The stream itself is \`${STREAM_PATH}\`, described in \`/asyncapi.json\`. The call does not count against any quota.`,
  scope: 'open',
  answer: z
    .object({
      status: z.enum(['ok', 'starting', 'degraded', 'draining']).describe('As in `/v1/health`'),
      head: place('the newest published block').nullable().describe(HEAD),
      horizon: HORIZON_PLACE.nullable().describe(HORIZON),
      replay_horizon_seconds: count('Length of the replay horizon in seconds')
        .nullable()
        .describe(
          'Length of the replay horizon, in seconds of block time; null if everything stored can be replayed'
        ),
      lag_ms: count('Age of the newest block by its block time').nullable(),
      data_freshness_seconds: count('Age of the indexed data, in seconds')
        .nullable()
        .describe('As in `/v1/health`; null while no block is indexed'),
      connections: count('Clients connected to this process'),
      subscriptions: count('Subscriptions of all clients'),
      events_per_second: z
        .number()
        .describe('Events sent to clients per second, averaged over the last ten seconds'),
      dropped_total: count('Events dropped from full buffers since the process started')
    })
    .meta({ id: 'StreamHealth' }),
  otherStatuses: [503],
  answersWhileDraining: true,
  examples: [{ name: 'now' }]
})

type Status = z.input<typeof streamHealth.answer>['status']

export const streamHealthRoutes: FastifyPluginAsync<StreamNeeds> = async (app, deps) => {
  const { stream, feed, clock, draining } = deps
  serve(app, streamHealth, async ({ reply }) => {
    const { head } = feed
    const nowMs = clock.now()
    const seconds = freshnessSeconds(deps)
    const isFresh = seconds !== null && seconds <= FRESHNESS_SECONDS_MAX
    const isStarting = startProgress(deps) !== null
    const running: Status = isStarting ? 'starting' : isFresh ? 'ok' : 'degraded'
    const status: Status = draining() ? 'draining' : running
    if (status === 'draining' || status === 'degraded') void reply.code(503).header('retry-after', '1')
    const { health } = stream
    return {
      status,
      head:
        head === null || health.head < 0
          ? null
          : {
              cursor: shownHead(health.head),
              slot: splitCursor(health.head).slot,
              ts_ms: head.blockTime * 1000
            },
      horizon: head === null || health.horizon === null ? null : horizonBody(health.horizon, head),
      replay_horizon_seconds: health.horizonSeconds,
      lag_ms: head === null ? null : Math.max(0, nowMs - head.blockTime * 1000),
      data_freshness_seconds: seconds,
      connections: health.connections,
      subscriptions: health.subscriptions,
      events_per_second: Math.round(health.eventsPerSecond * 10) / 10,
      dropped_total: health.dropped
    }
  })
}

function horizonBody({ cursor, slot, tsMs }: Place, head: SlotRow): z.input<typeof HORIZON_PLACE> {
  const seconds = Math.max(0, head.blockTime - Math.floor(tsMs / 1000))
  return { cursor, slot, ts_ms: tsMs, seconds }
}
