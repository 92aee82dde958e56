import type { IndexPlace } from '../../src/data/index-place.ts'
import type { IndexMetrics, IndexSizes } from '../../src/data/metrics.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Run } from '../supervision/process.ts'

/** Interval of decisions, in milliseconds: that of announcements. */
const DECIDE_MS = 1_000

export interface IndexPlaceDeps {
  readonly place: IndexPlace
  readonly sizes: IndexSizes
  readonly metrics: IndexMetrics
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info'>
}

/** Decides once a second whether this gateway holds the names and rankings of all mints. A change is one line in the log. */
export function indexPlace(deps: IndexPlaceDeps): Run<unknown> {
  const { place, sizes, metrics, clock, logger } = deps
  return async ({ draining, ready, gauge }) => {
    let wasHeld: boolean | null = null
    const note = (): void => {
      if (place.isHeld === wasHeld) return
      if (wasHeld !== null || place.isHeld === false)
        logger.info(
          place.isHeld === true
            ? 'this gateway loads names and rankings of all tokens, because too few others hold them'
            : 'this gateway asks others for names and rankings of tokens, and holds none'
        )
      wasHeld = place.isHeld
    }
    const unfollow = place.onChange(note)
    gauge('held', () => Number(place.isHeld === true))
    gauge('asks', () => Number(place.isAnsweredElsewhere))
    metrics.show({ sizes, place })
    try {
      place.update()
      note()
      ready()
      while (!draining.aborted) {
        await sleep(clock, DECIDE_MS, draining)
        place.update()
      }
    } finally {
      unfollow()
      metrics.show(null)
    }
  }
}
