import type { AbandonedSlots } from '../../storage/port/abandoned-slots.ts'
import type { MirrorProgress } from './program.ts'

/**
 * Maximum ranges that are stored: one for each start of a mirror. A version of an older range could only count again if it
 * became visible after so many starts.
 */
const ABANDONED_MAX = 16

/**
 * Returns the abandoned slots of a mirror that begins with a snapshot: those after the progress of the mirror before it. That
 * one may have written versions of them, and its last writes may become visible only now.
 */
export function abandonBefore(
  snapshotSlot: number,
  { slot, abandoned = [] }: Pick<MirrorProgress, 'slot' | 'abandoned'>
): AbandonedSlots[] {
  const range = { from: (slot ?? -1) + 1, to: snapshotSlot - 1 }
  return range.from > range.to ? abandoned : [...abandoned, range].slice(-ABANDONED_MAX)
}
