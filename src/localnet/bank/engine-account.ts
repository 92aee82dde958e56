import type { Account } from 'litesvm/dist/internal.js'
import { pubkeyMapKey, samePubkey } from '../../chain/pubkey.ts'
import type { LocalAccount } from '../chain.ts'

/** Tells whether two states of an account are equal; null if the account does not exist. */
export function isSameAccount(a: LocalAccount | null, b: LocalAccount | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.lamports === b.lamports &&
    a.executable === b.executable &&
    samePubkey(a.owner, b.owner) &&
    Buffer.compare(a.data, b.data) === 0
  )
}

/** Copies an account of the engine. */
export function localAccount(address: Uint8Array, found: Account): LocalAccount {
  return {
    address: new Uint8Array(address),
    owner: new Uint8Array(found.owner()),
    lamports: found.lamports(),
    // Copied, because the engine frees its memory late.
    data: new Uint8Array(found.data()),
    executable: found.executable(),
    rentEpoch: found.rentEpoch()
  }
}

/** Returns a program's accounts in their state before some changes; null for an account that did not exist. */
export function accountsBefore(
  newest: readonly LocalAccount[],
  before: ReadonlyMap<string, LocalAccount | null>,
  program: Uint8Array
): LocalAccount[] {
  const unchanged = newest.filter(({ address }) => !before.has(pubkeyMapKey(address)))
  const changed = [...before.values()].filter((account) => account !== null)
  return [...unchanged, ...changed.filter(({ owner }) => samePubkey(owner, program))]
}
