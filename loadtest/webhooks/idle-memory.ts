import { setTimeout as pause } from 'node:timers/promises'
import type { Plan } from './plan.ts'
import { Side } from './side.ts'

const BAR_KIB = 10
const CHANNELS = 500
/** Milliseconds of idleness before memory is read. */
const IDLE_MS = 2_000

/**
 * Measures the memory of idle webhooks after a garbage collection: with their store's caches, and of their deliveries alone.
 */
export async function measureIdle(webhooks: number) {
  const side = await Side.start(false)
  try {
    const before = await side.memory()
    const plans = Array.from({ length: webhooks }, (_, n): Plan => {
      return { n, first: n % CHANNELS, count: 1, burst: 1 }
    })
    await side.insert(plans)
    const stored = await side.memory()
    await side.startDeliveries()
    await pause(IDLE_MS)
    const idle = await side.memory()
    const kibEach = (bytes: number): number => bytes / 1_024 / webhooks
    const each = kibEach(idle.held - before.held)
    return {
      reached: each <= BAR_KIB,
      bar_kib: BAR_KIB,
      webhooks,
      kib_a_webhook: each,
      kib_of_its_stored_document: kibEach(stored.held - before.held),
      kib_of_its_delivery: kibEach(idle.held - stored.held),
      resident_kib_a_webhook: kibEach(idle.rss - before.rss)
    }
  } finally {
    await side.end()
  }
}
