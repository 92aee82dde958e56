import { sleep, type Clock } from '../../src/ports.ts'
import type { Storage } from '../../storage/port.ts'
import type { Run } from '../supervision/process.ts'

/** Between two steps of a round at least: a step takes a millisecond or two, so that ingest has the store nearly alone. */
const PAUSE_MS = 25
/** A slow step, which compacted or met a busy disk, is followed by a pause of so many times its length. */
const PAUSE_PER_STEP = 4
/** The longest pause: a clock that was set has made no step longer than that. */
const PAUSE_MS_MAX = 10_000
/** Between two looks whether something has expired. */
const LOOK_MS = 30_000

/** Milliseconds between a step of a round and the next one, by how long the step took. */
export function pauseAfter(stepMs: number): number {
  return Math.min(Math.max(PAUSE_MS, PAUSE_PER_STEP * stepMs), PAUSE_MS_MAX)
}

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
    for (let pauseMs = PAUSE_MS; !draining.aborted;) {
      await sleep(clock, pauseMs, draining)
      if (draining.aborted) return
      pauseMs = LOOK_MS
      if (sweeper === null || storage.damage.length > 0) continue
      const beganMs = clock.now()
      if (await sweeper.step()) pauseMs = pauseAfter(clock.now() - beganMs)
      steps++
    }
  }
}
