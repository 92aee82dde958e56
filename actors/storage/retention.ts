import { sleep, type Clock } from '../../src/ports.ts'
import type { Storage } from '../../storage/port.ts'
import type { Run } from '../supervision/process.ts'

/**
 * Shortest pause between the steps of a round, in milliseconds. A step takes one or two, so that ingest has the store nearly
 * alone.
 */
const PAUSE_MS = 25
/** After a slow step, which compacted or met a busy disk, the pause is this many times as long as the step. */
const PAUSE_PER_STEP = 4
/** The longest pause, in milliseconds: a change of the system's clock makes a step seem longer than it was. */
const PAUSE_MS_MAX = 10_000
/** Pause between rounds, in milliseconds. */
const ROUND_PAUSE_MS = 30_000

/** Returns the pause after a step in milliseconds, from the milliseconds that the step took. */
export function pauseAfter(stepMs: number): number {
  return Math.min(Math.max(PAUSE_MS, PAUSE_PER_STEP * stepMs), PAUSE_MS_MAX)
}

/**
 * Deletes rows that are older than the retention, a small step at a time. Pauses while the store keeps everything,
 * and while a damaged store accepts no blocks.
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
      pauseMs = ROUND_PAUSE_MS
      if (sweeper === null || storage.damage.length > 0) continue
      const beganMs = clock.now()
      if (await sweeper.step()) pauseMs = pauseAfter(clock.now() - beganMs)
      steps++
    }
  }
}
