import { SLOTS_OF_LIFE } from './independent-evidence.ts'
import type { SignatureStatus } from './ports.ts'
import type { Submission } from './submission.ts'

/** Minimum milliseconds of a slot: a quarter of mainnet's 400 ms. A slot that is too early is certainly refused. */
const SLOT_MS_MIN = 100

/** The facts of a submission that limit the slots in which it can have landed. */
export interface LandingBounds extends Pick<Submission, 'receivedAtMs' | 'receivedSlot' | 'nonceAccount'> {
  /** The newest slot at which its durable nonce was not used up; null if unknown. */
  readonly unusedNonceSlot: number | null
  /** Whether its blockhash had expired at its reception: it may then have landed at any earlier time. */
  readonly isBlockhashOld: boolean
}

/**
 * Returns whether a submission can have landed in the slot that one node states, at that node's slot. If its
 * blockhash was valid at its reception, it can have landed 150 blocks before at the earliest. If the blockhash had
 * expired, or a nonce may have been used, it can have landed at any time.
 */
export function isPossibleLanding(
  { receivedAtMs, receivedSlot, nonceAccount, unusedNonceSlot, isBlockhashOld }: LandingBounds,
  { slot }: Pick<SignatureStatus, 'slot'>,
  contextSlot: number,
  nowMs: number
): boolean {
  if (slot > contextSlot) return false
  if (nonceAccount !== null) return unusedNonceSlot === null || slot > unusedNonceSlot
  if (isBlockhashOld) return true
  const passedSlots = Math.ceil(Math.max(0, nowMs - receivedAtMs) / SLOT_MS_MIN)
  // A `receivedSlot` above the answer's slot was reported wrongly at the reception.
  const knownSlot = Math.min(receivedSlot ?? contextSlot - passedSlots, contextSlot)
  return slot >= knownSlot - SLOTS_OF_LIFE
}
