import type { MintFacts } from '../../accounts/mint-facts.ts'
import { REFRESH_MS } from '../../accounts/mint-directory.ts'
import type { AccountServices } from '../../accounts/services.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import { ANSWER_MS } from '../../accounts/routes/account-services.ts'

/** Cached facts of a mint's accounts. */
export interface KnownFacts {
  /** Null if the accounts have not been read, if the address is not a mint, or if no node is set. */
  readonly facts: MintFacts | null
  readonly slot: number
  readonly readAtMs: number
  /** Milliseconds for which an answer based on these facts may be repeated; undefined for no limit. */
  readonly maxAgeMs: number | undefined
}

const WITHOUT_NODE: KnownFacts = { facts: null, slot: 0, readAtMs: 0, maxAgeMs: undefined }
const UNREAD: KnownFacts = { ...WITHOUT_NODE, maxAgeMs: ANSWER_MS }

/**
 * Returns the cached facts of a mint's accounts without a request to the node. Missing or stale facts are refreshed
 * in the background. An answer made before the accounts are read has a short TTL.
 */
export function knownFacts(accounts: Pick<AccountServices, 'mints'> | null, mint: Pubkey): KnownFacts {
  if (accounts === null) return WITHOUT_NODE
  accounts.mints.refresh(mint)
  const known = accounts.mints.peek(mint)
  if (known === null) return UNREAD
  const { reading, slot, readAtMs } = known
  return { facts: reading.kind === 'facts' ? reading : null, slot, readAtMs, maxAgeMs: REFRESH_MS }
}

/** Returns the cached facts of a mint, of any age; null if they are unread, and for an address that is not a mint. */
export function factsOf({ mints }: Pick<AccountServices, 'mints'>, mint: Pubkey): MintFacts | null {
  const reading = mints.peek(mint)?.reading
  return reading?.kind === 'facts' ? reading : null
}

/** A section of an answer that may be repeated for some milliseconds; undefined for no limit. */
export type Aged = Pick<KnownFacts, 'maxAgeMs'>

/** The maximum age of an answer; empty if unlimited. */
export interface AgeLimit {
  readonly maxAgeMs?: number
}

/** Returns the limit of an answer that is made from several sections. */
export function ageLimit(known: readonly Aged[]): AgeLimit {
  const limits = known.flatMap(({ maxAgeMs }) => (maxAgeMs === undefined ? [] : [maxAgeMs]))
  return limits.length === 0 ? {} : { maxAgeMs: Math.min(...limits) }
}
