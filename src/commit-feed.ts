import type { BlockCommit, SlotRow } from './market/rows.ts'

/**
 * The committed blocks of this process, told to whoever follows as soon as readers of the store see them. What a
 * follower keeps in memory follows from the store alone: it loads from there first, and takes the feed from that slot on.
 */
export class CommitFeed {
  #head: SlotRow | null = null
  readonly #followers = new Set<(commit: BlockCommit) => void>()

  /** The newest committed slot, null on an empty store. */
  get head(): SlotRow | null {
    return this.#head
  }

  /** Where ingest takes up; followers hear of blocks after it. */
  restore(head: SlotRow | null): void {
    this.#head = head
  }

  publish(commit: BlockCommit): void {
    this.#head = commit.slot
    for (const follower of this.#followers) follower(commit)
  }

  /** Calls `follower` for each block from now on, in order, until the returned function is called. */
  follow(follower: (commit: BlockCommit) => void): () => void {
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }
}
