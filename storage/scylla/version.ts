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
 * The time of a write in the sense of the cluster, where of two writes of a cell the one of the later time counts,
 * whichever arrives last: a later epoch's is later, then a later commit's. As times these lie before the year 2006, since
 * a server may refuse times to come.
 */
export const versionTimestamp = ({ epoch, number }: Version): bigint =>
  BigInt(epoch) * BigInt(COMMITS_MAX + 1) + BigInt(number)
