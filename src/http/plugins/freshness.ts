import plugin from 'fastify-plugin'
import type { SlotRow } from '../../market/rows.ts'
import type { AppDeps } from '../app.ts'

/** Whole seconds that the indexed head is behind the clock; null while nothing is indexed. */
export function freshnessSeconds(head: SlotRow | null, nowMs: number): number | null {
  return head === null ? null : Math.max(0, Math.floor(nowMs / 1000) - head.blockTime)
}

/** The freshness header; none while nothing is indexed. */
export function freshnessHeader({ feed, clock }: Pick<AppDeps, 'feed' | 'clock'>) {
  const seconds = freshnessSeconds(feed.head, clock.now())
  return seconds === null ? {} : { 'x-data-freshness-seconds': String(seconds) }
}

/** Says on every response how old the newest indexed block was when the request came. */
export const freshness = plugin(
  async (app, deps: Pick<AppDeps, 'feed' | 'clock'>) => {
    app.addHook('onRequest', (_request, reply, done) => {
      void reply.headers(freshnessHeader(deps))
      done()
    })
  },
  { name: 'freshness' }
)
