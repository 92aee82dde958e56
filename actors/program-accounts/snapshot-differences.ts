import type { AddressedAccount } from '../../src/accounts/ports.ts'
import { samePubkey } from '../../src/chain/pubkey.ts'
import { abandonedAt, type AbandonedSlots } from '../../storage/port/abandoned-slots.ts'
import type { AccountVersion } from '../../storage/port.ts'
import { isSame } from './mirror-store.ts'

/** All accounts of a program at a slot, as a node has them. */
export interface Snapshot {
  readonly slot: number
  readonly accounts: readonly AddressedAccount[]
  /** The version of the node; absent if the node does not state it. */
  readonly apiVersion?: string | undefined
}

/** A stored version that is unused from a slot on: a newer one has superseded it, it is a close, or its slot was abandoned. */
export interface Ended {
  readonly version: AccountVersion
  readonly bySlot: number
}

/**
 * Yields the versions by which a snapshot differs from what is stored, each with the one before it. Reports stored versions
 * that have ended.
 *
 * @param snapshot Accounts ascending by address.
 * @param stored All stored versions, ascending by address, newest first; those of an address are in one chunk.
 * @param abandoned Slots whose stored versions count as not there.
 * @throws If a stored version is of a later slot than the snapshot.
 */
export async function* differencesFrom(
  { slot, accounts }: Snapshot,
  stored: AsyncIterable<readonly AccountVersion[]>,
  abandoned: readonly AbandonedSlots[],
  ended: ((each: Ended) => void) | null
): AsyncGenerator<{ readonly next: AccountVersion; readonly before: AccountVersion | undefined }> {
  let at = 0
  const versionAt = (index: number): AccountVersion => {
    const { owner: _, ...account } = accounts[index]!.account
    return { address: accounts[index]!.address, slot, account }
  }
  const isThere = (version: AccountVersion): boolean => {
    if (abandonedAt(abandoned, version.slot) === undefined) return true
    ended?.({ version, bySlot: slot })
    return false
  }
  for await (const all of stored) {
    const chunk = abandoned.length === 0 ? all : all.filter(isThere)
    for (const [i, version] of chunk.entries()) {
      const newer = chunk[i - 1]
      const isNewest = newer === undefined || !samePubkey(newer.address, version.address)
      if (!isNewest || version.account === null)
        ended?.({ version, bySlot: (isNewest ? version : newer).slot })
      if (!isNewest) continue
      if (version.slot > slot) throw new Error(`the node is behind stored accounts of slot ${version.slot}`)
      while (at < accounts.length && Buffer.compare(accounts[at]!.address, version.address) < 0)
        yield { next: versionAt(at++), before: undefined }
      const found = accounts[at]
      const isInSnapshot = found !== undefined && samePubkey(found.address, version.address)
      const next = isInSnapshot ? versionAt(at++) : { address: version.address, slot, account: null }
      if (!isSame(version.account, next.account)) yield { next, before: version }
    }
  }
  while (at < accounts.length) yield { next: versionAt(at++), before: undefined }
}
