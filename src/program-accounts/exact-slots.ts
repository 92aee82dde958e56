import type { MirrorProgress } from './program.ts'

/**
 * Maximum ended ranges that are stored. Finalized state is about 13 s old; more gaps than this in 13 s indicate a
 * broken node.
 */
const ENDED_RANGES_MAX = 8

type ExactSlots = Pick<MirrorProgress, 'slot' | 'oldestSlot' | 'exactFrom' | 'ended'>

/**
 * Returns the newest slot up to `atMost` at which the mirrored state is exact; null if no slot is exact. Updates are
 * complete and carry their slots, so each slot between them is exact too. A snapshot is exact at its own slot only: its
 * differences were made at unknown slots since the previous one.
 */
export function exactSlotUpTo(progress: ExactSlots, atMost: number): number | null {
  const { slot, oldestSlot, ended = [] } = progress
  if (slot === null) return null
  const range = [...ended, { from: exactFrom(progress, slot), to: slot }].findLast(
    ({ from }) => from <= atMost
  )
  if (range === undefined) return null
  const exact = Math.min(range.to, atMost)
  return exact >= oldestSlot ? exact : null
}

/** Begins a new range of exact slots at `from`. Earlier slots stay readable if they are exact. */
export function beginExactAt(
  progress: ExactSlots,
  from: number,
  areEarlierExact: boolean
): Pick<MirrorProgress, 'exactFrom' | 'ended'> {
  const { slot, oldestSlot, ended = [] } = progress
  if (!areEarlierExact || slot === null) return { exactFrom: from, ended: [] }
  const last = { from: exactFrom(progress, slot), to: Math.min(slot, from - 1) }
  const all = last.from <= last.to ? [...ended, last] : ended
  return { exactFrom: from, ended: all.filter(({ to }) => to >= oldestSlot).slice(-ENDED_RANGES_MAX) }
}

/** Progress of earlier versions has no ranges: only the state at its slot is known to be exact. */
const exactFrom = ({ exactFrom: from }: ExactSlots, slot: number): number => from ?? slot
