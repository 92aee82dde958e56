/** Consecutive slots of one leader (agave, NUM_CONSECUTIVE_LEADER_SLOTS). */
export const SLOTS_PER_LEADER = 4

/** The leaders of consecutive slots. */
export interface LeaderSchedule {
  readonly fromSlot: number
  /** Public keys in base58, one for each slot. */
  readonly leaders: readonly string[]
}

/** Returns the leaders of the slots from `from` on, each once, in the order of their first slot; at most `max`. */
export function leadersOf(
  { fromSlot, leaders }: LeaderSchedule,
  slot: number,
  { slots, max }: { readonly slots: number; readonly max: number }
): readonly string[] {
  const from = Math.max(0, slot - fromSlot)
  const end = Math.max(0, slot + slots - fromSlot)
  return [...new Set(leaders.slice(from, end))].slice(0, max)
}

/** Returns whether a schedule names the leaders of all slots from one (inclusive) to another (exclusive). */
export const covers = ({ fromSlot, leaders }: LeaderSchedule, from: number, end: number): boolean =>
  fromSlot <= from && end <= fromSlot + leaders.length
