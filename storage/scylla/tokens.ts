import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { TokenStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { blob } from './client.ts'
import { AddressedRows } from './generic-tables.ts'
import type { Table } from './table.ts'

/** Tokens by mint, listed in the order of the cluster's partitions. */
export function tokenTable(base: ScyllaBase): Table<TokenStore> {
  const rows = new AddressedRows(base, 'tokens')
  return {
    port: {
      get: (mint) => rows.get(mint),
      compare: partitionOrder(base),
      list: ({ after, limit }) => rows.list(after ?? null, limit)
    },
    stage: (commit) => rows.put(commit, commit.blocks.tokens),
    amend: (commit, { tokens }) => rows.amend(commit, tokens)
  }
}

/** Returns a comparison of addresses by the order of their partitions: by token, then by bytes. */
function partitionOrder({ client }: ScyllaBase): (one: Pubkey, other: Pubkey) => number {
  // A hash takes a few microseconds, and an address is compared several times.
  const hashes = new WeakMap<Pubkey, bigint>()
  const hashOf = (address: Pubkey): bigint => {
    const known = hashes.get(address)
    if (known !== undefined) return known
    const hash = client.partitionToken(blob(address))
    hashes.set(address, hash)
    return hash
  }
  return (one, other) => {
    const [before, after] = [hashOf(one), hashOf(other)]
    return before === after ? Buffer.compare(one, other) : before < after ? -1 : 1
  }
}
