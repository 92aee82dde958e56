import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { freeMemoryReturn } from './allocator.ts'
import { giveHeapRoomUnderLoad } from './loaded-heap.ts'
import { growYoungHeapOnce } from './small-heap.ts'

/** Interval of the calls, in milliseconds. A call takes about 10 ms, so they use at most a thousandth of a core. */
const RETURN_INTERVAL_MS = 10_000
/** Delay of the first call, in milliseconds: indexing a day of blocks takes half as long. */
const FIRST_RETURN_DELAY_MS = 30_000

/**
 * Returns free memory of this process to the system regularly, until the returned function is called.
 *
 * First it makes Node write its cache of compiled code, which Node would otherwise hold until the process ends: 10
 * MB. The write takes 2 ms, and 700 ms at the first start after an installation. Before the first return it compacts
 * the heap, once: indexing a day of blocks leaves 35 MB of it half empty. Then it sets the young generation to its
 * size for an idle service, and gives the heap more room whenever its old generation is collected often.
 */
export function returnFreeMemory(): () => void {
  flushCompileCache()
  const returnMemory = freeMemoryReturn()
  let endGrowth = (): void => undefined
  let endRoom = (): void => undefined
  let timer = setTimeout(() => {
    compactHeap()
    endGrowth = growYoungHeapOnce()
    endRoom = giveHeapRoomUnderLoad()
    returnMemory?.()
    timer = setInterval(() => returnMemory?.(), RETURN_INTERVAL_MS).unref()
  }, FIRST_RETURN_DELAY_MS).unref()
  return () => {
    clearTimeout(timer)
    endGrowth()
    endRoom()
  }
}

/**
 * Collects all garbage and compacts the heap: a pause of about 150 ms for 80 MB. The young generation keeps its size.
 * The collections that V8 runs when memory is short would shrink it.
 */
export function compactHeap(): void {
  setFlagsFromString('--expose-gc')
  setFlagsFromString('--compact-on-every-full-gc')
  const collect = runInNewContext('gc') as (options: object) => void
  collect({ type: 'major', flavor: 'regular' })
  setFlagsFromString('--no-compact-on-every-full-gc')
  setFlagsFromString('--no-expose-gc')
}
