import type { Commitment } from '../market/rows.ts'

/** A member of a bundle in a block. */
export interface LandedMember {
  readonly slot: number
  readonly commitment: Commitment
  readonly hasFailed: boolean
  /** The chain's error in JSON-RPC form; null for a success, and while it is unknown. */
  readonly err: unknown
}

/** The state of a bundle's members on the chain. */
export type Landing =
  | { readonly kind: 'none' }
  /** Some members are in blocks, or all are but may still move. */
  | { readonly kind: 'open' }
  /** All in one block and successful, at the lowest of their commitments. */
  | { readonly kind: 'landed'; readonly slot: number; readonly commitment: Commitment }
  /** All members are in confirmed blocks, but not as a bundle: the blocks differ, or one member has failed. */
  | { readonly kind: 'split'; readonly err: unknown }

/** In ascending order. */
export const COMMITMENTS: readonly Commitment[] = ['processed', 'confirmed', 'finalized']

/** Returns the landing of a bundle from its members in order. A member is null if it is in no block. */
export function landingOf(members: readonly (LandedMember | null)[]): Landing {
  const found = members.filter((member) => member !== null)
  if (found.length === 0) return { kind: 'none' }
  if (found.length < members.length) return { kind: 'open' }
  const commitment = COMMITMENTS[Math.min(...found.map((member) => COMMITMENTS.indexOf(member.commitment)))]!
  const { slot } = found[0]!
  const failed = found.find(({ hasFailed }) => hasFailed)
  if (failed === undefined && found.every((member) => member.slot === slot))
    return { kind: 'landed', slot, commitment }
  return commitment === 'processed' ? { kind: 'open' } : { kind: 'split', err: failed?.err ?? null }
}
