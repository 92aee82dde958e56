import { pubkeyMapKey, samePubkey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import { pairsKey } from '../codec/keys.ts'
import { mergedPairs, pairsKind } from '../codec/pair.ts'
import type { PairStore } from '../port.ts'
import { AddressRecords } from './address-records.ts'
import type { ScyllaBase } from './base.ts'
import type { TableCommit } from './commit.ts'
import { lastOf } from './table.ts'
import type { Table } from './table.ts'

/** The pairs of a mint are one value: there are at most as many as cash mints, and they are read together. */
export function pairTable(base: ScyllaBase): Table<PairStore> {
  const pairs = new AddressRecords(base, {
    table: 'pairs',
    column: 'mint',
    kind: pairsKind,
    storeKey: pairsKey
  })
  return {
    port: {
      get: async ({ mint, cash }) =>
        (await pairs.get(mint))?.find((pair) => samePubkey(pair.cash, cash)) ?? null,
      ofMint: async (mint) => [...((await pairs.get(mint)) ?? [])],
      ofMints: async (mints) => Promise.all(mints.map(async (mint) => (await pairs.get(mint)) ?? []))
    },
    stage: (commit) => amend(commit, { put: commit.blocks.pairs, remove: [] }),
    amend: (commit, amendment) => amend(commit, amendment.pairs)
  }

  async function amend(commit: TableCommit, { put, remove }: Amendment['pairs']): Promise<void> {
    const rows = Map.groupBy(put, ({ mint }) => pubkeyMapKey(mint))
    const removed = Map.groupBy(remove, ({ mint }) => pubkeyMapKey(mint))
    const mints = lastOf([...put, ...remove], ({ mint }) => pubkeyMapKey(mint)).map(({ mint }) => mint)
    const stored = await pairs.committed(commit, mints)
    const after = mints.map((mint, i) => {
      const gone = removed.get(pubkeyMapKey(mint)) ?? []
      const rest = (stored[i] ?? []).filter((pair) => !gone.some(({ cash }) => samePubkey(cash, pair.cash)))
      return { key: mint, value: mergedPairs(rest, rows.get(pubkeyMapKey(mint)) ?? []) }
    })
    await pairs.stage(
      commit,
      after.filter(({ value }) => value.length > 0)
    )
    await pairs.remove(
      commit,
      after.filter(({ value }) => value.length === 0).map(({ key }) => key)
    )
  }
}
