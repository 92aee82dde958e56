/** The division of a cluster's slots into epochs, as getEpochSchedule returns it. */
export interface EpochSchedule {
  readonly slotsPerEpoch: number
  /** The first epoch of full length, and its first slot; the epochs before it double in length. */
  readonly firstNormalEpoch: number
  readonly firstNormalSlot: number
}

/** Slots of the first epoch of a cluster that warms up (agave, MINIMUM_SLOTS_PER_EPOCH). */
const FIRST_EPOCH_SLOTS = 32

/** Returns the epoch of a slot. */
export function epochOf(
  slot: number,
  { slotsPerEpoch, firstNormalEpoch, firstNormalSlot }: EpochSchedule
): bigint {
  if (slot >= firstNormalSlot)
    return BigInt(firstNormalEpoch + Math.floor((slot - firstNormalSlot) / slotsPerEpoch))
  // Epoch n begins at slot 32 × (2^n - 1).
  return BigInt(31 - Math.clz32(Math.floor(slot / FIRST_EPOCH_SLOTS) + 1))
}
