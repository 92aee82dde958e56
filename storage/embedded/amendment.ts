import type { Amendment } from '../../src/market/amendment.ts'
import { keptBlockKind } from '../codec/kept-block.ts'
import { curveKey, keptBlockKey, slotKey, solPriceKey, tokenKey, totalsKey } from '../codec/keys.ts'
import { slotKind, solPriceKind } from '../codec/kinds.ts'
import { stageActivity, stageActivityRemovals } from './activity.ts'
import { amendCandles } from './candle-amending.ts'
import { stageCurves } from './curves.ts'
import { stageLaunches, stageLaunchRemovals } from './launches.ts'
import { amendLog } from './log.ts'
import { amendPairs } from './pairs.ts'
import { amendPools } from './pools.ts'
import { amendRows } from './row-lists.ts'
import { stageTokens } from './tokens.ts'
import { stageTotals } from './totals.ts'
import { amendTurnover } from './turnover.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** Puts what an amendment brings and takes out what it ends. */
export async function stageAmendment(view: View, batch: WriteBatch, amendment: Amendment): Promise<void> {
  const { slots, solPrices, launches, activity, tokens, curves, totals, kept } = amendment
  for (const slot of slots.remove) batch.delete(slotKey(slot))
  for (const slot of slots.put) batch.putUnkept(slotKind, slotKey(slot.slot), slot)
  for (const minute of solPrices.remove) batch.delete(solPriceKey(minute))
  for (const price of solPrices.put) batch.put(solPriceKind, solPriceKey(price.minute), price)
  for (const mint of tokens.remove) batch.delete(tokenKey(mint))
  stageTokens(batch, tokens.put)
  for (const mint of curves.remove) batch.delete(curveKey(mint))
  stageCurves(batch, curves.put)
  stageActivityRemovals(batch, activity.remove)
  stageActivity(batch, activity.put)
  amendTurnover(batch, activity, amendment.head?.blockTime ?? -Infinity)
  if (totals === null) batch.delete(totalsKey())
  else stageTotals(batch, totals)
  for (const slot of kept.remove) batch.delete(keptBlockKey(slot))
  for (const block of kept.put) batch.putUnkept(keptBlockKind, keptBlockKey(block.block.slot), block)
  amendLog(batch, amendment.log)
  await amendRows(view, batch, amendment)
  await amendCandles(view, batch, amendment.candles)
  await stageLaunchRemovals(view, batch, launches.remove)
  await stageLaunches(view, batch, launches.put)
  await amendPairs(view, batch, amendment.pairs)
  await amendPools(view, batch, amendment.pools)
}
