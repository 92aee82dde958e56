import { ServiceError } from '../src/kernel/errors.ts'
import type { SlotRow } from '../src/market/rows.ts'
import type { BlockCommit } from '../src/market/records.ts'

/** Tells whether a block is at or below the head, and so is already stored. */
export const isStored = ({ slot }: BlockCommit, head: SlotRow | null): boolean =>
  head !== null && slot.slot <= head.slot

/** Throws if a block is to follow a slot that is not the head; undefined accepts any head. */
export function assertFollows(after: number | undefined, head: SlotRow | null): void {
  if (after === undefined || after === head?.slot) return
  throw new ServiceError('STORAGE_UNAVAILABLE', `slot ${after}, which the block follows, is not the head`)
}
