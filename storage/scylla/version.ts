/** The commit of a row or of a version of a record. It is visible once its epoch's watermark reaches it. */
export interface Version {
  /** Epoch of the claim under which it was written, from 1. */
  readonly epoch: number
  /** Number of the commit: 1, 2, 3, … over all epochs. */
  readonly number: number
}

/**
 * Maximum commits of one epoch, and epochs of one store: 25 years of blocks, and 25 years of 60 epochs a day. Claims and
 * amendments each take an epoch.
 */
export const COMMITS_MAX = 2 ** 31 - 1
export const EPOCHS_MAX = 2 ** 19

/**
 * The CQL write timestamp: of two writes of a cell the later timestamp wins, in whatever order they arrive. A later epoch
 * has a later timestamp, then a later commit. As times these lie before the year 2006, because a server may refuse future
 * timestamps.
 */
export const versionTimestamp = ({ epoch, number }: Version): bigint =>
  BigInt(epoch) * BigInt(COMMITS_MAX + 1) + BigInt(number)
