import { pubkeyMapKey, samePubkey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import type { PairRow } from '../../src/market/rows.ts'
import type { Database } from './database.ts'
import { pairsKey } from '../codec/keys.ts'
import { mergedPairs, ownPair, pairsKind } from '../codec/pair.ts'
import type { RecordTable } from './record-table.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** The pairs of a mint are one value: there are at most as many as cash mints, and they are read together. */
export function pairTable(database: Database): RecordTable<'pairs'> {
  const ofMint = (view: View, mint: Pubkey): readonly PairRow[] => view.get(pairsKind, pairsKey(mint)) ?? []
  return {
    port: {
      get: ({ mint, cash }) =>
        database.read((view) => ofMint(view, mint).find((pair) => samePubkey(pair.cash, cash)) ?? null),
      ofMint: (mint) => database.read((view) => [...ofMint(view, mint)]),
      ofMints: (mints) => database.read((view) => mints.map((mint) => ofMint(view, mint)))
    },
    stage: (view, batch, { pairs }) => amendPairs(view, batch, { put: pairs, remove: [] }),
    amend: (view, batch, { pairs }) => amendPairs(view, batch, pairs)
  }
}

/** Replaces pairs with the same mint and cash, and removes others. */
async function amendPairs(view: View, batch: WriteBatch, edit: Amendment['pairs']): Promise<void> {
  const put = Map.groupBy(edit.put, ({ mint }) => pubkeyMapKey(mint))
  const removed = Map.groupBy(edit.remove, ({ mint }) => pubkeyMapKey(mint))
  const mints = new Map([...edit.put, ...edit.remove].map(({ mint }) => [pubkeyMapKey(mint), mint]))
  const keys = Array.from(mints.values(), pairsKey)
  const stored = await view.getMany(pairsKind, keys)
  for (const [i, mint] of [...mints.keys()].entries()) {
    const gone = removed.get(mint) ?? []
    const rest = (stored[i] ?? []).filter((pair) => !gone.some(({ cash }) => samePubkey(cash, pair.cash)))
    // Cached: the next block with the mint merges them again.
    const pairs = mergedPairs(rest, (put.get(mint) ?? []).map(ownPair))
    if (pairs.length === 0) batch.delete(keys[i]!)
    else batch.putOwned(pairsKind, keys[i]!, pairs)
  }
}
