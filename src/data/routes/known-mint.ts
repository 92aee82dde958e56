import type { MintFacts } from '../../accounts/mint-facts.ts'
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
  /** Tells whether no newer reading has replaced these facts. */
  readonly isCurrent: () => boolean
  /** Reads the stored reading, if changes by other processes are not heard. Waits a short time, never rejects. */
  readonly confirm: () => Promise<void>
}

const WITHOUT_NODE: KnownFacts = {
  ...{ facts: null, slot: 0, readAtMs: 0, maxAgeMs: undefined },
  isCurrent: () => true,
  confirm: async () => undefined
}

/**
 * Returns the known facts of a mint's accounts without a request to the node: those that this process or another one has
 * read. Missing or stale facts are refreshed in the background. An answer made before the accounts are read has a short
 * TTL.
 */
export async function knownFacts(
  accounts: Pick<AccountServices, 'mints'> | null,
  mint: Pubkey
): Promise<KnownFacts> {
  if (accounts === null) return WITHOUT_NODE
  const { mints } = accounts
  await mints.recall([mint])
  mints.refresh(mint)
  const known = mints.peek(mint)
  const facts = known?.reading.kind === 'facts' ? known.reading : null
  const isNewest = mints.untilReplaced(mint, known)
  // That an address is no mint changes no answer: its facts were unknown before.
  const isCurrent = (): boolean => isNewest() || (facts === null && factsOf({ mints }, mint) === null)
  const confirm = (): Promise<void> => mints.recall([mint])
  if (known === null) return { ...WITHOUT_NODE, maxAgeMs: ANSWER_MS, isCurrent, confirm }
  const { slot, readAtMs } = known
  return { facts, slot, readAtMs, maxAgeMs: mints.repeatMs, isCurrent, confirm }
}

/** Returns the cached facts of a mint, of any age; null if they are unread, and for an address that is not a mint. */
export function factsOf({ mints }: Pick<AccountServices, 'mints'>, mint: Pubkey): MintFacts | null {
  const reading = mints.peek(mint)?.reading
  return reading?.kind === 'facts' ? reading : null
}

/** A section of an answer that may be repeated for some milliseconds, and until a reading changes; undefined for no limit. */
export type Aged = Pick<KnownFacts, 'maxAgeMs' | 'isCurrent'>

/** How long an answer may be repeated; empty if unlimited. */
export interface AgeLimit {
  readonly maxAgeMs?: number
  readonly isCurrent?: () => boolean
}

/** Returns the limit of an answer that is made from several sections. */
export function ageLimit(known: readonly Aged[]): AgeLimit {
  const limited = known.filter(({ maxAgeMs }) => maxAgeMs !== undefined)
  if (limited.length === 0) return {}
  return {
    maxAgeMs: Math.min(...limited.map(({ maxAgeMs }) => maxAgeMs!)),
    isCurrent: allOf(limited.map(({ isCurrent }) => isCurrent))
  }
}

/** Returns whether all conditions hold. */
export const allOf =
  (conditions: readonly (() => boolean)[]): (() => boolean) =>
  () =>
    conditions.every((holds) => holds())
