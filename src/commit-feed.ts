import type { BlockCommit, SlotRow } from './market/rows.ts'
import type { BlockStore } from '../storage/port.ts'

/** Hears of a block, and of the head before it, which `restore` may have moved unheard. It must not throw. */
export type Follower = (commit: BlockCommit, before: SlotRow | null) => void

/**
 * The committed blocks of this process, told to whoever follows as soon as readers of the store see them. What a
 * follower keeps in memory follows from the store alone: it loads from there first, and takes the feed from that slot on.
 *
 * F1. A block is told after it is durable and visible, in order, once.
 * F2. So it is when the answer to its commit was lost: the block is kept until whoever takes up after the crash says
 *     what the store has come to.
 */
export class CommitFeed {
  #head: SlotRow | null = null
  /** Given to the store, which has not answered. */
  #underWay: BlockCommit | null = null
  readonly #followers = new Set<Follower>()

  /** The newest committed slot, null on an empty store. */
  get head(): SlotRow | null {
    return this.#head
  }

  /** The head of the store, from which ingest takes up. */
  restore(head: SlotRow | null): void {
    const lost = this.#underWay
    this.#underWay = null
    if (lost !== null && lost.slot.slot === head?.slot) this.publish(lost)
    else if (head?.slot !== this.#head?.slot) this.#head = head
  }

  /** Commits a block, and tells of it if it was written; rejects as the store does. */
  async commit(block: BlockCommit, blocks: Pick<BlockStore, 'commit'>): Promise<void> {
    this.#underWay = block
    const written = await blocks.commit(block)
    this.#underWay = null
    if (written) this.publish(block)
  }

  publish(commit: BlockCommit): void {
    const before = this.#head
    this.#head = commit.slot
    const faults: unknown[] = []
    for (const follower of this.#followers) {
      try {
        follower(commit, before)
      } catch (fault) {
        faults.push(fault)
      }
    }
    // A defect; but what the others hear does not depend on it.
    if (faults.length > 0) throw new AggregateError(faults, 'a follower of the feed failed')
  }

  /** Calls `follower` for each block from now on, in order, until the returned function is called. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }
}
