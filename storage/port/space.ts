/** The space that a store takes, by kind of rows, and the space that is left. */
export interface StorageUsage {
  readonly kinds: readonly KindUsage[]
  /** Bytes that the store may still take on its disk; null if the disk is on other machines. */
  readonly freeBytes: number | null
  /** Partitions above the bound of every table; null if the store has no partitions, or its servers do not say. */
  readonly largePartitions: LargePartitions | null
}

/** Partitions of a cluster above 100 MB, which slow down reads, compaction and repair. */
export interface LargePartitions {
  /** Size from which the servers know large partitions: smaller ones may exist. */
  readonly knownFromBytes: number
  /** The largest first. */
  readonly partitions: readonly LargePartition[]
}

export interface LargePartition {
  readonly table: string
  readonly bytes: number
  /** The partition key as the server writes it; null if the server states only the largest size of a table. */
  readonly key: string | null
}

export interface KindUsage {
  /** Name in words for the operator. */
  readonly kind: string
  readonly bytes: number
  /**
   * How long rows stay: a number of seconds, counted back from the head's block time; `always`; or `needed`: until they
   * are replaced, so that blocks do not add to them without end.
   */
  readonly stays: number | 'always' | 'needed'
}

/**
 * Ends rows of trades and pool events and hours of activity once they are older than the retention. Candles, tokens, pools,
 * curves, launches, slots, gaps, prices and totals stay. The embedded store counts back from the head's block time. On a
 * cluster a row has a TTL from its write, so old blocks that were written late stay longer.
 */
export interface Sweeper {
  /**
   * Does the next bounded step: hides expired rows from readers, deletes some hidden rows, or frees disk space. Resolves
   * with whether more steps are due now.
   */
  step(): Promise<boolean>
}
