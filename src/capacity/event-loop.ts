/** Seconds after which long work lets other work of its process run (`src/kernel/work`). */
const SLICE_SECONDS = 0.004

/** Work that arrives at an event loop. */
export interface LoopWork {
  readonly kind: 'block' | 'transaction'
  readonly arrivesAt: number
  readonly seconds: number
}

/** A slice of work that ended: of long work, each slice is a share of its results. */
interface EndedSlice {
  readonly work: LoopWork
  readonly at: number
  readonly isLast: boolean
}

/**
 * Runs the work of one event loop in virtual time: one slice after another, in turns. Work must ascend by its arrival.
 * Returns the seconds in which the loop was busy.
 */
export function runLoop(works: readonly LoopWork[], ended: (slice: EndedSlice) => void): number {
  const queue: { readonly work: LoopWork; left: number }[] = []
  let [now, busy, next, first] = [0, 0, 0, 0]
  while (next < works.length || first < queue.length) {
    if (first === queue.length) now = Math.max(now, works[next]!.arrivesAt)
    for (; next < works.length && works[next]!.arrivesAt <= now; next++)
      queue.push({ work: works[next]!, left: works[next]!.seconds })
    const { work, left } = queue[first++]!
    const slice = Math.min(left, SLICE_SECONDS)
    now += slice
    busy += slice
    const isLast = left <= slice
    if (!isLast) queue.push({ work, left: left - slice })
    ended({ work, at: now, isLast })
  }
  return busy
}
