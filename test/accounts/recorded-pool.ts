import { basename } from 'node:path'
import { AccountSet } from '../../src/accounts/account-set.ts'
import { isRefused } from '../../src/accounts/optional-key.ts'
import { readPool } from '../../src/accounts/pools/pool-reader.ts'
import type { PoolState } from '../../src/accounts/pools/pool-state.ts'
import type { Account } from '../../src/accounts/ports.ts'
import { pubkeyFromBase58, pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import { fixtureAccounts } from '../fixtures.ts'
import { key } from './account-data.ts'

export const SOL = 'So11111111111111111111111111111111111111112'

export const text = (address: Pubkey | null): string | null =>
  address === null ? null : pubkeyToBase58(address)
export const stated = (owner: Pubkey, data: Uint8Array): Account => ({
  lamports: 1n,
  owner,
  executable: false,
  rentEpoch: 0n,
  data
})

/** The recorded accounts of a folder by file name, without owner and address of the file. */
export const recorded = (folder: string): ReadonlyMap<string, Account> =>
  new Map(
    fixtureAccounts(folder).map(({ path, owner, data }) => [
      basename(path, '.json'),
      stated(pubkeyFromBase58(owner), data)
    ])
  )

/** Reads a recorded pool, with further accounts by their address in base58. */
export function read(venue: VenueId, account: Account, more: Readonly<Record<string, Account>> = {}) {
  const pool = key(7)
  const known = new Map<string, Account | null>([[pubkeyMapKey(pool), account]])
  for (const [address, each] of Object.entries(more)) known.set(pubkeyMapKey(pubkeyFromBase58(address)), each)
  const set = new AccountSet(known)
  return { state: readPool({ pool, venue }, set), unread: set.unread.map(pubkeyToBase58) }
}

export function pool({ state, unread }: ReturnType<typeof read>): PoolState {
  if (isRefused(state)) throw new Error(`${state.reason}; unread ${unread.join(', ')}`)
  return state
}

export const sides = ({ sides }: PoolState) =>
  sides.map(({ mint, vault, reserve }) => [text(mint), text(vault), reserve])
