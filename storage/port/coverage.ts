/** A stretch of slots, both ends included, whose blocks were abandoned. */
export interface GapRow {
  readonly from: number
  readonly to: number
  /** A word for the kind of reason, such as `pruned`. */
  readonly reason: string
  /** Details in one line, for the operator. */
  readonly detail: string
  /** Unix milliseconds at which the slots were abandoned. */
  readonly atMs: number
}

/** The start of the rows that the retention keeps. */
export interface RowHorizon {
  /** Rows of trades and pool events with a cursor below this one are past the retention. */
  readonly cursor: number
  /**
   * Rows before the horizon have block times below this one, except for a second or two. Hours of activity that end by then
   * are past the retention, too.
   */
  readonly time: number
}

/** Facts of the chain beside its blocks: genesis, gaps, horizon. */
export interface CoverageStore {
  /**
   * The horizon: all rows from it on are kept; null if no row has expired. The embedded store has no rows below it. A
   * cluster may still have some, because it expires rows by the time of their writes.
   */
  horizon(): Promise<RowHorizon | null>
  /** The hash of the cluster's genesis, in base58; null until it is known. */
  genesis(): Promise<string | null>
  /** Sets the genesis unless one is stored; resolves with the stored one. */
  settleGenesis(hash: string): Promise<string>
  /** Adds a gap, replacing one that begins at the same slot. Gaps are closed by amendments. */
  addGap(gap: GapRow): Promise<void>
  /** Gaps that begin after a slot (null: from the first), by slot: `limit` at most. */
  gaps(page: { readonly after: number | null; readonly limit: number }): Promise<GapRow[]>
}
