import type { DecodedBlock } from './block.ts'
import { bucketStart } from './buckets.ts'

type Timed = Pick<DecodedBlock, 'blockTime'>

/**
 * Returns whether a block can be folded at once with blocks before it that are not folded yet, of which the first and the last
 * are given. Blocks that are folded at once are of one hour and in the order of their minutes, and they are of one minute unless
 * no minute of theirs can be stored (M2 in `market-state.ts`). `newestTime` is that of all earlier blocks, in Unix seconds.
 */
export function areFoldedTogether(first: Timed, last: Timed, block: Timed, newestTime: number): boolean {
  const [begin, end, minute] = [first, last, block].map(({ blockTime }) => bucketStart('1m', blockTime))
  if (minute! < end! || bucketStart('1h', minute!) !== bucketStart('1h', begin!)) return false
  return minute === begin || bucketStart('1m', newestTime) <= begin!
}
