import { totalsKey } from '../codec/keys.ts'
import { totalsKind } from '../codec/totals.ts'
import type { TotalsStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { RecordTable } from './records.ts'
import type { StorePart } from './store-part.ts'

/** The totals of the chain: a table of one record. */
const CHAIN = 'solana'

export function totalsPart(base: ScyllaBase): StorePart<TotalsStore> {
  const totals = new RecordTable(base, {
    table: 'totals',
    partition: ['chain'],
    clustering: [],
    kind: totalsKind,
    values: (chain: string) => [chain],
    storeKey: totalsKey,
    keyOf: (row) => row['chain'] as string
  })
  return {
    port: { get: () => totals.get(CHAIN) },
    async stage(commit) {
      const value = commit.blocks.totals
      if (value !== null) await totals.stage(commit, [{ key: CHAIN, value }])
    },
    amend: (commit, { totals: value }) =>
      value === null ? totals.remove(commit, [CHAIN]) : totals.stage(commit, [{ key: CHAIN, value }])
  }
}
