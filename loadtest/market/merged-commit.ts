import { mergedRows, type BlockCommit } from '../../src/market/records.ts'

/**
 * The rows of several blocks as one commit at the slot of the last. The store holds the same rows as block by block, in a
 * fraction of the time, but knows of no slot between.
 */
export const mergeCommits = (commits: readonly BlockCommit[]): BlockCommit => ({
  slot: commits.at(-1)!.slot,
  ...mergedRows(commits)
})
