import type { BlockCommit, BlockStore } from '../port.ts'
import { stageCandles } from './candles.ts'
import type { Database } from './database.ts'
import { slotKey, solPriceKey } from './keys.ts'
import { slotKind, solPriceKind } from './kinds.ts'
import { stageLaunches } from './launches.ts'
import { stagePairs } from './pairs.ts'
import { poolEventPages, tradePages } from './row-lists.ts'
import { firstSince } from './unbuilt.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

export function blockStore(database: Database): BlockStore {
  return {
    commit: (block) =>
      database.write(async (view, batch) => {
        if (view.head !== null && block.slot.slot <= view.head.slot) return null
        await stageBlock(view, batch, block)
        return { kind: 'block', head: block.slot }
      }),
    head: () => database.read(async (view) => view.head),
    firstSince,
    has: (slot) => database.read(async (view) => (await view.get(slotKind, slotKey(slot))) !== null)
  }
}

async function stageBlock(view: View, batch: WriteBatch, block: BlockCommit): Promise<void> {
  await tradePages.stage(view, batch, block.trades, (row) => row.mint)
  await poolEventPages.stage(view, batch, block.poolEvents, (row) => row.pool)
  await stageCandles(view, batch, block.candles)
  await stageLaunches(view, batch, block.launches)
  stagePairs(batch, block.pairs)
  if (block.solPrice !== null) batch.put(solPriceKind, solPriceKey(block.solPrice.minute), block.solPrice)
  batch.put(slotKind, slotKey(block.slot.slot), block.slot)
}
