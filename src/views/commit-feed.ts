import type { KeptBlock } from '../market/kept-block.ts'
import type { SlotRow } from '../market/rows.ts'
import type { BlockCommit } from '../market/records.ts'
import type { BlockStore } from '../../storage/port.ts'

/** Hears of a block, and of the head before it, which a jump may have moved unheard. It must not throw. */
export type Follower = (commit: BlockCommit, before: SlotRow | null) => void

/** Hears that blocks were passed that nobody tells of, or that some that were told have changed. It must not throw. */
export type JumpListener = () => void

/**
 * The committed blocks as this process hears of them, by its own commits or from the journal of another's, told to
 * whoever follows as soon as readers of the store see them. What a follower keeps in memory follows from the store
 * alone: it loads from there first, and takes the feed from that slot on.
 *
 * F1. A block is told after it is durable and visible, in order, once, whoever tells of it first.
 * F2. So it is when the answer to its commit was lost: it is kept, with those that were given to the store after it, until
 *     whoever takes up after the crash says what the store has come to. None of them is told before.
 * F3. Where blocks are missed, or changed after they were told, `jump` and `amend` say so to those who asked to hear of
 *     it; they load anew.
 */
export class CommitFeed {
  #head: SlotRow | null = null
  /** Given to the store, which has not answered, oldest first. */
  #underWay: BlockCommit[] = []
  /** The amendments of the store that are known of; null before the first word of them. */
  #amendments: number | null = null
  readonly #followers = new Set<Follower>()
  readonly #jumpListeners = new Set<JumpListener>()

  /** The newest committed slot, null on an empty store. */
  get head(): SlotRow | null {
    return this.#head
  }

  /** The head of the store, from which ingest takes up that nobody else can have moved. */
  restore(head: SlotRow | null): void {
    const lost = this.#underWay
    this.forget()
    const last = lost.findIndex(({ slot }) => slot.slot === head?.slot)
    for (const block of lost.slice(0, last + 1)) this.publish(block)
    this.jump(head)
  }

  /** Nothing is under way any more: whoever takes up reads what the store has come to from its journal. */
  forget(): void {
    this.#underWay = []
  }

  /** Moves the head to that of the store; blocks between the two are not told. */
  jump(head: SlotRow | null): void {
    if (head?.slot !== this.#head?.slot) this.amend(head)
  }

  /** What was told before may have changed, up to the head that there is now. */
  amend(head: SlotRow | null): void {
    this.#head = head
    callAll(this.#jumpListeners, (listener) => listener())
  }

  /**
   * Takes note of the amendments that the store has come to (`History.amendments`), at a head. Where they are others than
   * those that were known, what was told may have changed, and true is returned.
   */
  heed(amendments: number, head: SlotRow | null): boolean {
    const before = this.#amendments
    this.#amendments = amendments
    if (before === null || before === amendments) return false
    this.amend(head)
    return true
  }

  /**
   * Commits a block, and tells of it if it was written; rejects as the store does. The next one may be given before the
   * answer, to a store that answers in order.
   */
  async commit(
    block: BlockCommit,
    blocks: Pick<BlockStore, 'commit'>,
    kept?: KeptBlock,
    after?: number
  ): Promise<void> {
    this.#underWay.push(block)
    const written = await blocks.commit(block, kept, after)
    // Behind one whose answer was lost it waits to be found in the store with it.
    if (this.#underWay[0] !== block) return
    this.#underWay.shift()
    if (written) this.publish(block)
  }

  /** Tells of a visible block that follows the head; one that has been told is not told again. */
  publish(commit: BlockCommit): void {
    const before = this.#head
    if (before !== null && commit.slot.slot <= before.slot) return
    this.#head = commit.slot
    callAll(this.#followers, (follower) => follower(commit, before))
  }

  /** Calls `follower` for each block from now on, in order, until the returned function is called. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }

  /** Calls `listener` each time that blocks were passed or have changed without being told, until the returned function is called. */
  onJump(listener: JumpListener): () => void {
    this.#jumpListeners.add(listener)
    return () => void this.#jumpListeners.delete(listener)
  }
}

/** What one hears does not depend on a defect of another. */
function callAll<T>(followers: Iterable<T>, call: (follower: T) => void): void {
  const faults: unknown[] = []
  for (const follower of followers) {
    try {
      call(follower)
    } catch (fault) {
      faults.push(fault)
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, 'a follower of the feed failed')
}
