import { widerExtent, type BlockExtent } from '../../market/block-extent.ts'
import type { KeptBlock } from '../../market/kept-block.ts'
import type { SlotRow } from '../../market/rows.ts'
import type { BlockCommit } from '../../market/records.ts'
import type { BlockStore } from '../../../storage/port.ts'

/** A follower of the feed. None of its functions may throw. */
export interface FeedReader {
  /** Called for each block with the head before it, which a jump may have moved. */
  published(commit: BlockCommit, before: SlotRow | null): void
  /** Called when blocks were skipped without notice, or published blocks have changed. */
  jumped?(): void
  /** Called after the last of the blocks that are published together. */
  ended?(): void
  /**
   * Returns how much of a block the follower reads; by default all of it. Called before the block is published, and again each
   * time that more of it was read. It may use no more of the block than was read.
   */
  needs?(block: BlockCommit): BlockExtent
}

/** Called when blocks were skipped without notice, or published blocks have changed. It must not throw. */
type JumpListener = () => void

/**
 * Publishes committed blocks to this process's followers once readers of the store can see them. They come from its
 * own commits, or from another process's journal. A follower's memory is derived from the store alone: it loads
 * first, and then follows the feed from that slot.
 *
 * F1. A block is published after it is durable and visible, in order and once, whichever path reports it first.
 * F2. If a commit's answer is lost, its block and those queued behind it are held until recovery reports the stored
 *     head. They are not published before.
 * F3. If blocks are skipped, or changed after publication, `jump` and `amend` notify the jump listeners, which
 *     reload.
 * F4. A block is published once as much of it was read as its followers need (`neededOf`).
 * F5. Blocks whose commits the store answers in one turn of the event loop are published together. So a reader of the stream
 *     gets them by one write to its socket.
 */
export class CommitFeed {
  #head: SlotRow | null = null
  /** Blocks in flight to the store, oldest first. */
  #inFlight: BlockCommit[] = []
  /** Committed blocks that are published at the end of this turn of the event loop, oldest first. */
  #committed: BlockCommit[] = []
  /** Number of the store's amendments seen last; null before the first. */
  #amendments: number | null = null
  readonly #readers = new Set<FeedReader>()
  readonly #jumpListeners = new Set<JumpListener>()

  /** The newest committed slot; null for an empty store. */
  get head(): SlotRow | null {
    return this.#head
  }

  /**
   * Sets the stored head from which ingest restarts, while no other process can move it. Publishes held blocks up to
   * it.
   */
  restore(head: SlotRow | null): void {
    const lost = this.#inFlight
    this.forget()
    const last = lost.findIndex(({ slot }) => slot.slot === head?.slot)
    this.#publishCommitted()
    this.publishAll(lost.slice(0, last + 1))
    this.jump(head)
  }

  /** Drops the blocks in flight: recovery reads the store's position from the journal. */
  forget(): void {
    this.#inFlight = []
  }

  /** Moves the head to the store's; blocks between the two are not published. */
  jump(head: SlotRow | null): void {
    if (head?.slot !== this.#head?.slot) this.amend(head)
  }

  /** Reports that blocks up to the current head may have changed since publication. */
  amend(head: SlotRow | null): void {
    this.#publishCommitted()
    this.#head = head
    callAll(this.#jumpListeners, (listener) => listener())
  }

  /**
   * Records the store's number of amendments (`History.amendments`) at a head. If it differs from the last one,
   * published blocks may have changed: notifies the jump listeners and returns true.
   */
  noteAmendments(amendments: number, head: SlotRow | null): boolean {
    const before = this.#amendments
    this.#amendments = amendments
    if (before === null || before === amendments) return false
    this.amend(head)
    return true
  }

  /**
   * Commits a block and publishes it if it was written; rejects as the store does. The next commit may begin before the
   * answer, if the store answers in order.
   */
  async commit(
    block: BlockCommit,
    blocks: Pick<BlockStore, 'commit'>,
    kept?: KeptBlock,
    after?: number
  ): Promise<void> {
    this.#inFlight.push(block)
    const written = await blocks.commit(block, kept, after)
    // If the answer to an earlier block's commit was lost, this block is held until recovery finds both in the store.
    if (this.#inFlight[0] !== block) return
    this.#inFlight.shift()
    if (!written) return
    this.#committed.push(block)
    // The answers to blocks that were written together come in a row (F5).
    await Promise.resolve()
    this.#publishCommitted()
  }

  /** Returns how much of a block its followers need, by what was read of it. */
  neededOf(block: BlockCommit): BlockExtent {
    let needed: BlockExtent = 'slot'
    for (const reader of this.#readers) needed = widerExtent(needed, reader.needs?.(block) ?? 'rows')
    return needed
  }

  /** Publishes a visible block if it follows the head; ignores one already published. */
  publish(commit: BlockCommit): void {
    this.publishAll([commit])
  }

  /** Publishes visible blocks together, in their order; ignores those that do not follow the head. */
  publishAll(commits: readonly BlockCommit[]): void {
    if (commits.length === 0) return
    try {
      callAll(commits, (commit) => this.#publish(commit))
    } finally {
      callAll(this.#readers, (reader) => reader.ended?.())
    }
  }

  #publish(commit: BlockCommit): void {
    const before = this.#head
    if (before !== null && commit.slot.slot <= before.slot) return
    this.#head = commit.slot
    callAll(this.#readers, (reader) => reader.published(commit, before))
  }

  #publishCommitted(): void {
    const committed = this.#committed
    this.#committed = []
    this.publishAll(committed)
  }

  /** Passes each later block to `reader`, in order, until the returned function is called. */
  follow(reader: FeedReader): () => void {
    this.#readers.add(reader)
    const unsubscribe = this.onJump(() => reader.jumped?.())
    return () => {
      this.#readers.delete(reader)
      unsubscribe()
    }
  }

  /** Calls `listener` each time blocks were skipped or have changed, until the returned function is called. */
  onJump(listener: JumpListener): () => void {
    this.#jumpListeners.add(listener)
    return () => void this.#jumpListeners.delete(listener)
  }
}

/** Makes a call for each of a list even if one throws; rethrows afterwards. */
function callAll<T>(all: Iterable<T>, call: (each: T) => void): void {
  const faults: unknown[] = []
  for (const each of all) {
    try {
      call(each)
    } catch (fault) {
      faults.push(fault)
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, 'a follower of the feed failed')
}
