import { pubkeyMapKey, samePubkey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { PairRow } from '../../src/market/rows.ts'
import type { PairStore } from '../port.ts'
import type { Database } from './database.ts'
import { pairsKey } from './keys.ts'
import { pairsKind } from './pair-codec.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** The pairs of a mint are one value: there are at most as many as cash mints, and they are asked for together. */
export function pairStore(database: Database): PairStore {
  return {
    get: (mint, cash) =>
      database.read(
        (view) => view.get(pairsKind, pairsKey(mint))?.find((pair) => samePubkey(pair.cash, cash)) ?? null
      ),
    ofMint: (mint) => database.read((view) => [...(view.get(pairsKind, pairsKey(mint)) ?? [])])
  }
}

export async function stagePairs(view: View, batch: WriteBatch, rows: readonly PairRow[]): Promise<void> {
  const mints = [...Map.groupBy(rows, (row) => pubkeyMapKey(row.mint)).values()]
  const keys = mints.map(([first]) => pairsKey(first!.mint))
  const stored = await view.getMany(pairsKind, keys)
  mints.forEach((pairs, i) => batch.put(pairsKind, keys[i]!, merged(stored[i] ?? [], pairs)))
}

/** Each pair in place of the one with its cash, new ones at the end. */
function merged(stored: readonly PairRow[], pairs: readonly PairRow[]): PairRow[] {
  const byCash = new Map<string, PairRow>()
  const cashOf = ({ cash }: { readonly cash: Pubkey }): string => pubkeyMapKey(cash)
  for (const pair of [...stored, ...pairs]) byCash.set(cashOf(pair), pair)
  return [...byCash.values()]
}
