import { mergedRows, type BlockCommit } from '../../src/market/records.ts'

/**
 * The rows of several blocks as one commit at the slot of the last. The store then holds the rows that it would have block
 * by block, in a fraction of the time, but without the slots in between.
 */
export const mergeCommits = (commits: readonly BlockCommit[]): BlockCommit => ({
  slot: commits.at(-1)!.slot,
  ...mergedRows(commits)
})
