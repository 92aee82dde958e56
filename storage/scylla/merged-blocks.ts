import type { SlotRow, SolPriceRow } from '../../src/market/rows.ts'
import type { BlockCommit } from '../port.ts'

/** What some blocks that follow each other change together. Of several values of one record the last counts. */
export interface MergedBlocks extends Omit<BlockCommit, 'slot' | 'solPrice'> {
  /** Of each block, oldest first; never empty. */
  readonly slots: readonly SlotRow[]
  /** The last of them. */
  readonly newest: SlotRow
  readonly solPrices: readonly SolPriceRow[]
}

/** Blocks, oldest first and at least one, as one. */
export function mergedBlocks(blocks: readonly BlockCommit[]): MergedBlocks {
  const slots = blocks.map(({ slot }) => slot)
  return {
    slots,
    newest: slots.at(-1)!,
    trades: blocks.flatMap(({ trades }) => trades),
    poolEvents: blocks.flatMap(({ poolEvents }) => poolEvents),
    log: blocks.flatMap(({ log }) => log),
    candles: blocks.flatMap(({ candles }) => candles),
    launches: blocks.flatMap(({ launches }) => launches),
    pairs: blocks.flatMap(({ pairs }) => pairs),
    solPrices: blocks.flatMap(({ solPrice }) => solPrice ?? []),
    activity: blocks.flatMap(({ activity }) => activity),
    tokens: blocks.flatMap(({ tokens }) => tokens),
    pools: blocks.flatMap(({ pools }) => pools),
    curves: blocks.flatMap(({ curves }) => curves),
    totals: blocks.findLast(({ totals }) => totals !== null)?.totals ?? null
  }
}
