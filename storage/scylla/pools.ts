import type { Pubkey } from '../../src/chain/pubkey.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import { keyText, mintPoolKey } from '../codec/keys.ts'
import { listedPoolKind } from '../codec/pool.ts'
import { addressesListedAt, isListedUnder, listingAddresses } from '../pool-listings.ts'
import type { PoolStore } from '../port.ts'
import { addressIn } from './address-records.ts'
import type { ScyllaBase } from './base.ts'
import { blob } from './client.ts'
import type { Commit } from './commit.ts'
import { AddressedRows } from './generic-tables.ts'
import { RecordTable } from './records.ts'
import { readConsistently } from './read-consistently.ts'
import { lastOf } from './table.ts'
import type { Table } from './table.ts'

type PoolPage = Parameters<PoolStore['ofMint']>[1]

/** Place of a pool in a list. A partition is a mint: 100,000 pools of one would be 15 MB. */
interface Listing {
  readonly mint: Pubkey
  readonly firstCursor: number
}

interface ListingEntry {
  readonly key: Listing
  readonly value: Pubkey
}

/** Pools by address, and lists of them under their mints. */
export function poolTable(base: ScyllaBase): Table<PoolStore> {
  const pools = new AddressedRows(base, 'pools')
  const listings = new RecordTable<Listing, Pubkey>(base, {
    table: 'pools_by_mint',
    partition: ['mint'],
    clustering: ['first_cursor'],
    kind: listedPoolKind,
    values: ({ mint, firstCursor }) => [blob(mint), BigInt(firstCursor)],
    storeKey: ({ mint, firstCursor }) => mintPoolKey(mint, firstCursor),
    keyOf: (row) => ({
      mint: addressIn(row, 'mint'),
      firstCursor: Number(row['first_cursor'])
    })
  })
  const listed = (address: Pubkey, page: PoolPage): Promise<PoolRow[]> =>
    readConsistently(base, async () => {
      const { snapshot } = base.visibility
      const entries = await listings.range(rangeOf(address, page))
      const rows = await pools.getMany(entries.map(({ value }) => value))
      return rows.filter((row) => {
        // If an amendment removed it meanwhile, the query runs again.
        if (row === null && snapshot === base.visibility.snapshot)
          throw new ServiceError('STORAGE_UNAVAILABLE', 'a pool in the index is missing')
        return row !== null
      })
    })
  return {
    port: {
      get: (pool) => pools.get(pool),
      ofMint: async (mint, page) => (await listed(mint, page)).filter((row) => isListedUnder(row, mint)),
      async ofVaultOwner(owner) {
        const [pool = null] = await listed(owner, { order: 'desc', limit: 1 })
        return pool === null || isListedUnder(pool, owner) ? null : pool
      }
    },
    async stage(commit) {
      await Promise.all([pools.put(commit, commit.blocks.pools), listings.stage(commit, listedBy(commit))])
    },
    async amend(commit, amendment) {
      const { put, remove } = amendment.pools
      const stored = await pools.committed(commit, [...put.map(({ pool }) => pool), ...remove])
      const listed = new Map(put.flatMap((row) => entriesOf(row)).map((entry) => [textOf(entry), entry]))
      const left = stored.flatMap((row) => (row === null ? [] : entriesOf(row)))
      await pools.amend(commit, amendment.pools)
      await listings.stage(commit, [...listed.values()])
      await listings.remove(
        commit,
        lastOf(left, textOf)
          .filter((entry) => !listed.has(textOf(entry)))
          .map(({ key }) => key)
      )
    }
  }
}

function rangeOf(
  mint: Pubkey,
  { from, order, limit }: PoolPage
): Parameters<RecordTable<Listing, Pubkey>['range']>[0] {
  const bound = from === undefined ? {} : { [order === 'desc' ? 'lt' : 'gt']: BigInt(from) }
  return { within: [blob(mint)], ...bound, order, limit }
}

/** The entries that blocks add. */
function listedBy({ blocks }: Commit): ListingEntry[] {
  // Rows of a commit of several blocks are of any of them; a first block names its pool in a slot of its own.
  const slots = new Set(blocks.slots.map(({ slot }) => slot))
  const entries = blocks.pools.flatMap((row) => {
    const first = splitCursor(row.firstCursor).slot
    return entriesOf(row, addressesListedAt(slots.has(first) ? first : -1, row))
  })
  return lastOf(entries, textOf)
}

/** Returns the places at which a pool is listed. */
const entriesOf = (row: PoolRow, addresses = listingAddresses(row)): ListingEntry[] =>
  addresses.map((mint) => ({ key: { mint, firstCursor: row.firstCursor }, value: row.pool }))

const textOf = ({ key }: ListingEntry): string => keyText(mintPoolKey(key.mint, key.firstCursor))
