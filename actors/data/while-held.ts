import type { IndexPlace } from '../../src/data/index-place.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

/**
 * Runs a process while this gateway holds the index, and has it finish when the gateway no longer does; then calls `drop`,
 * which frees what the process held. It is ready at once where it does not run.
 */
export function whileHeld<Needs>(
  place: Pick<IndexPlace, 'isHeld' | 'onChange'>,
  run: Run<Needs>,
  drop: () => void = () => undefined
): Run<Needs> {
  return async (scope) => {
    const { draining } = scope
    let isReady = false
    const ready = (): void => {
      if (!isReady) scope.ready()
      isReady = true
    }
    while (!draining.aborted) {
      const changed = new AbortController()
      const unfollow = place.onChange(() => changed.abort())
      try {
        const end = AbortSignal.any([draining, changed.signal])
        if (place.isHeld === true) {
          await run({ ...scope, draining: end, ready })
          // A process that ended by itself has exited.
          if (!end.aborted) return
          if (changed.signal.aborted) drop()
        } else {
          ready()
          await aborted(end)
        }
      } finally {
        unfollow()
      }
    }
  }
}
