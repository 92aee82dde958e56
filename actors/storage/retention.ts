import { sleep, type Clock } from '../../src/ports.ts'
import type { Storage } from '../../storage/port.ts'
import type { Run } from '../supervision/process.ts'

/** Between two steps of a round: a step takes some milliseconds, so that ingest has the store nearly alone. */
export const SWEEP_STEP_MS = 100
/** Between two looks whether something has expired. */
const LOOK_MS = 30_000

/**
 * The process that ends rows which are older than the retention, a small step at a time. It rests while the store keeps
 * all, and while a damaged store takes no blocks.
 */
export function retention({ clock }: { readonly clock: Clock }): Run<{ readonly storage: Storage }> {
  return async ({ input: { storage }, draining, ready, gauge }) => {
    const { sweeper } = storage
    let steps = 0
    gauge('steps', () => steps)
    ready()
    for (let isMore = true; !draining.aborted;) {
      await sleep(clock, isMore ? SWEEP_STEP_MS : LOOK_MS, draining)
      if (draining.aborted) return
      if (sweeper === null || storage.damage.length > 0) continue
      isMore = await sweeper.step()
      steps++
    }
  }
}
