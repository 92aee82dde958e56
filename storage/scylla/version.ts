/** Which commit a row or a version of a record belongs to: it is visible once its epoch's watermark reaches it. */
export interface Version {
  /** Epoch of the claim under which it was written, from 1. */
  readonly epoch: number
  /** Number of the commit: 1, 2, 3, … over all epochs. */
  readonly number: number
}

/**
 * Commits of one epoch at most, and epochs of one store: 25 years of blocks, and as long 60 a day, which claims take and
 * amendments.
 */
export const COMMITS_MAX = 2 ** 31 - 1
export const EPOCHS_MAX = 2 ** 19

/**
 * The CQL write timestamp: of two writes of a cell the later timestamp wins, in whatever order they arrive. A later epoch has
 * a later timestamp, then a later commit. As times these lie before the year 2006, because a server may refuse future
 * timestamps.
 */
export const versionTimestamp = ({ epoch, number }: Version): bigint =>
  BigInt(epoch) * BigInt(COMMITS_MAX + 1) + BigInt(number)
