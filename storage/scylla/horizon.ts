import { cursorAt } from '../../src/market/cursor.ts'
import type { BlockStore, RowHorizon } from '../port.ts'
import type { CqlClient } from './client.ts'
import { tradesByMint } from './row-lists.ts'

/**
 * Seconds. More than a block time is ahead of the clocks of the cluster's servers, and longer than the answer is used for.
 */
const MARGIN_SECONDS = 300

/**
 * The horizon of a keyspace: all rows from it on are kept. No row is written before its block time, so a row whose block
 * time is within the TTL exists. After the retention was made longer, rows that were written before end sooner.
 */
export async function rowHorizon(
  client: CqlClient,
  keyspace: string,
  blocks: Pick<BlockStore, 'head' | 'firstSince'>
): Promise<RowHorizon | null> {
  const statement =
    'SELECT default_time_to_live FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?'
  const [row] = await client.read(statement, [keyspace, tradesByMint.table])
  const ttlSeconds = row?.['default_time_to_live'] as number
  if (ttlSeconds === 0) return null
  const time = Math.floor(client.now() / 1_000) - ttlSeconds + MARGIN_SECONDS
  const [head, oldest, first] = await Promise.all([
    blocks.head(),
    blocks.firstSince(0),
    blocks.firstSince(time)
  ])
  if (head === null || oldest === first) return null
  return { cursor: cursorAt(first ?? head.slot + 1, 0), time }
}
