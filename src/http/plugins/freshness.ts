import plugin from 'fastify-plugin'
import type { SlotRow } from '../../market/rows.ts'
import type { AppDeps } from '../app.ts'

/** Whole seconds that the indexed head is behind the clock; null while nothing is indexed. */
export function freshnessSeconds(head: SlotRow | null, nowMs: number): number | null {
  return head === null ? null : Math.max(0, Math.floor(nowMs / 1000) - head.blockTime)
}

/** The freshness header; none while nothing is indexed, or while the store is away. */
export async function freshnessHeader({ storage, clock }: Pick<AppDeps, 'storage' | 'clock'>) {
  // A store that is away makes this header the least of the client's problems.
  const head = await storage.blocks.head().catch(() => null)
  const seconds = freshnessSeconds(head, clock.now())
  return seconds === null ? {} : { 'x-data-freshness-seconds': String(seconds) }
}

/** Says on every response how old the newest indexed block is. */
export const freshness = plugin(
  async (app, { storage, clock }: Pick<AppDeps, 'storage' | 'clock'>) => {
    app.addHook('onSend', async (_request, reply) => {
      void reply.headers(await freshnessHeader({ storage, clock }))
    })
  },
  { name: 'freshness' }
)
