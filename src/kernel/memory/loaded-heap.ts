import {
  constants,
  PerformanceObserver,
  type PerformanceEntry,
  type PerformanceNodeEntry
} from 'node:perf_hooks'
import { giveHeapRoom } from './small-heap.ts'

/** Interval of counting the collections of the old generation, in milliseconds. */
const INTERVAL_MS = 5_000
/** Collections in an interval from which the heap is loaded. An idle localnet has one in 30 to 60 seconds. */
const LOADED_COLLECTIONS = 3
/** Intervals with fewer after which the heap is no longer loaded: a minute, so that a tenant's next minute finds it so. */
const CALM_INTERVALS = 12

/** Decides whether a heap is loaded, from the collections of its old generation in each interval. */
export class HeapLoad {
  isLoaded = false
  #calm = 0

  /** Takes the number of collections in one interval. Returns whether the decision has changed. */
  take(collections: number): boolean {
    this.#calm = collections >= LOADED_COLLECTIONS ? 0 : this.#calm + 1
    const wasLoaded = this.isLoaded
    this.isLoaded = this.#calm === 0 || (wasLoaded && this.#calm < CALM_INTERVALS)
    return this.isLoaded !== wasLoaded
  }
}

/**
 * Gives a heap that is kept small more room while its old generation is collected often, until the returned function is
 * called. Each collection stops all tenants for 25 to 60 ms.
 */
export function giveHeapRoomUnderLoad(
  give: (isLoaded: boolean) => void = giveHeapRoom,
  intervalMs = INTERVAL_MS
): () => void {
  const load = new HeapLoad()
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().filter(isOfOldGeneration).length
  })
  observer.observe({ entryTypes: ['gc'] })
  const timer = setInterval(() => {
    if (load.take(collections)) give(load.isLoaded)
    collections = 0
  }, intervalMs).unref()
  return () => {
    clearInterval(timer)
    observer.disconnect()
  }
}

function isOfOldGeneration(entry: PerformanceEntry): boolean {
  const { kind } = (entry as PerformanceNodeEntry).detail as { readonly kind: number }
  return kind === constants.NODE_PERFORMANCE_GC_MAJOR
}
