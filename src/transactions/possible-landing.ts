import { SLOTS_OF_LIFE } from './independent-evidence.ts'
import type { SignatureStatus } from './ports.ts'
import type { Submission } from './submission.ts'

/** Milliseconds of a slot at least: a quarter of mainnet's 400 ms; a slot that is too early is refused for certain. */
const SLOT_MS_MIN = 100

/** The facts of a submission that limit the slots in which it can have landed. */
export interface LandingBounds extends Pick<Submission, 'receivedAtMs' | 'receivedSlot' | 'nonceAccount'> {
  /** The newest slot as of which its durable nonce was not used up; null if none is known. */
  readonly unusedNonceSlot: number | null
  /** Whether its blockhash had expired at its reception: it may then have landed at any time before. */
  readonly isBlockhashOld: boolean
}

/**
 * Tells whether a submission can have landed in the slot that one node states, as of a slot of that node. With a
 * blockhash that was valid at its reception it can have landed 150 blocks before at the earliest; with an expired one,
 * or a nonce that may have been used, at any time.
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
  // A slot above that of the answer was a wrong one, reported at the reception.
  const knownSlot = Math.min(receivedSlot ?? contextSlot - passedSlots, contextSlot)
  return slot >= knownSlot - SLOTS_OF_LIFE
}
