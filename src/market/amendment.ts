import type { Pubkey } from '../chain/pubkey.ts'
import type { ActivityHour, TotalsRow } from './activity-rows.ts'
import type { KeptBlock } from './kept-block.ts'
import type { LogAddress, LogPart } from './log.ts'
import type { CandleAddress, HourAddress } from './missing.ts'
import type { CurveRow, PoolRow, TokenRow } from './registry-rows.ts'
import type {
  CandleUpsert,
  LaunchRow,
  PairRow,
  PoolEventRow,
  SlotRow,
  SolPriceRow,
  TradeRow
} from './rows.ts'
import type { PairAddress } from './touched.ts'

/**
 * Rows that come, or take the place of those at their addresses, and rows that go. A row that is put stays where another one
 * with its address is removed.
 */
export interface Edit<Row, Address> {
  readonly put: readonly Row[]
  readonly remove: readonly Address[]
}

/**
 * What makes of a store that has folded some blocks one that has folded others instead: with a block between that was
 * missing, or without one that a fork has lost. Values are absolute, so that it may be written again.
 */
export interface Amendment {
  /** The newest slot there is after it; null when none is left. */
  readonly head: SlotRow | null
  readonly slots: Edit<SlotRow, number>
  /** Lists of rows are in cursor order. */
  readonly trades: Edit<TradeRow, TradeRow>
  readonly poolEvents: Edit<PoolEventRow, PoolEventRow>
  /** By slot. */
  readonly log: Edit<LogPart, LogAddress>
  readonly candles: Edit<CandleUpsert, CandleAddress>
  readonly launches: Edit<LaunchRow, Pubkey>
  readonly pairs: Edit<PairRow, PairAddress>
  /** What goes is named by its minute. */
  readonly solPrices: Edit<SolPriceRow, number>
  readonly activity: Edit<ActivityHour, HourAddress>
  readonly tokens: Edit<TokenRow, Pubkey>
  readonly pools: Edit<PoolRow, Pubkey>
  readonly curves: Edit<CurveRow, Pubkey>
  /** As they are after it. */
  readonly totals: TotalsRow | null
  readonly kept: Edit<KeptBlock, number>
}

/** An amendment of no row. */
export function unchanged(head: SlotRow | null, totals: TotalsRow | null): Amendment {
  const none = { put: [], remove: [] }
  return {
    head,
    slots: none,
    trades: none,
    poolEvents: none,
    log: none,
    candles: none,
    launches: none,
    pairs: none,
    solPrices: none,
    activity: none,
    tokens: none,
    pools: none,
    curves: none,
    totals,
    kept: none
  }
}
