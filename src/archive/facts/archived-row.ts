import type { TradeFact } from '../rows/trade-fact.ts'

/** A trade of a file, as an archive stores it. */
export interface ArchivedRow {
  readonly fact: TradeFact
  /** 1-based place in its file. It orders rows whose place within the slot is not stated. */
  readonly line: number
}
