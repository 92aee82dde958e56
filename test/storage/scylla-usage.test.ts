import t from 'tap'
import type { CqlRow } from '../../storage/scylla/client.ts'
import { usageOf } from '../../storage/scylla/usage.ts'

/** A row of estimates for one range of tokens of a node. */
const range = (table_name: string, mean: bigint, partitions: bigint): CqlRow => ({
  table_name,
  mean_partition_size: mean,
  partitions_count: partitions
})

t.test('of a cluster the ranges of all nodes are added up, an index with its list', async (t) => {
  const node1 = [range('trades_by_mint', 100n, 3n), range('trades_by_mint', 50n, 2n)]
  const node2 = [
    range('trades_by_mint_buckets', 10n, 7n),
    range('coverage', 5n, 1n),
    range('gap_edits', 6n, 1n)
  ]
  const asked: unknown[] = []
  const usage = await usageOf(
    {
      readOnEachNode: async (statement, params) => {
        if (!statement.includes('size_estimates')) return []
        asked.push(...params)
        return [...node1, ...node2]
      },
      read: async () => [
        { table_name: 'trades_by_mint', default_time_to_live: 7_776_000 },
        { table_name: 'candle_pages', default_time_to_live: 0 }
      ]
    },
    'millrace'
  )
  t.strictSame(asked, ['millrace'])
  const kinds = new Map(usage.kinds.map((each) => [each.kind, each]))
  t.match(kinds.get('trades by mint'), { bytes: 470, stays: 7_776_000 })
  t.match(kinds.get('gaps'), { bytes: 11, stays: 'needed' })
  t.match(kinds.get('candles'), { bytes: 0, stays: 'always' })
  t.equal(kinds.has('the list of launches by status'), false, 'a kind without a table here')
  t.equal(usage.freeBytes, null)
})
