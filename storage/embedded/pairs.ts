import type { PairRow } from '../../src/market/rows.ts'
import type { PairStore } from '../port.ts'
import type { Database } from './database.ts'
import { pairKey, pairKeysOf } from './keys.ts'
import { pairKind } from './kinds.ts'
import type { WriteBatch } from './write-batch.ts'

export function pairStore(database: Database): PairStore {
  return {
    get: (mint, cash) => database.read((view) => view.get(pairKind, pairKey(mint, cash))),
    ofMint: (mint) =>
      database.read(async (view) => {
        const pairs: PairRow[] = []
        for await (const [, pair] of view.scan(pairKind, pairKeysOf(mint), { expected: 4, keep: true }))
          pairs.push(pair)
        return pairs
      })
  }
}

export function stagePairs(batch: WriteBatch, pairs: readonly PairRow[]): void {
  for (const pair of pairs) batch.put(pairKind, pairKey(pair.mint, pair.cash), pair)
}
