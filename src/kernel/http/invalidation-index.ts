import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { CommitFeed } from '../feed/commit-feed.ts'
import { digestOf, type BlockDigest } from '../../market/block-digest.ts'
import { extentOf } from '../../market/block-extent.ts'
import type { SlotRow } from '../../market/rows.ts'
import type { BlockCommit } from '../../market/records.ts'
import { minuteOf } from '../../market/sol-usd.ts'

/** An object that a cached answer depends on: a mint, pool, curve or wallet, or one of the lists that blocks extend. */
export type CacheTag = Pubkey | 'launches' | 'sol-price'

/** The time-based invalidation of an answer: never, when the head enters another minute, or with every block. */
export type RefreshTrigger = 'tags' | 'minute' | 'block'

/**
 * Maximum number of tags, about 20 MB. An evicted tag counts as changed when the newest evicted one was. That slot
 * may be too new, which costs a recomputation, but never gives a stale answer.
 */
const TAGS_MAX = 100_000
/**
 * Maximum digests that wait for the next check of an answer: 3 s of the chain, whose tags are marked in 2 ms. Beyond it each
 * answer computed before the oldest digest counts as changed. Without requests for 3 s, few answers are requested again.
 */
const DIGESTS_MAX = 8

/**
 * Tracks the newest slot that changed the object of each tag, so that answers computed at a slot can be checked for
 * validity. Blocks are noted by their digests, whose addresses are marked when an answer is checked. A process that answers
 * nothing needs no digests: after `DIGESTS_MAX` blocks without a check, each block counts as a change of everything.
 */
export class InvalidationIndex {
  readonly #feed: CommitFeed
  readonly #tagsMax: number
  /** Ascending by newest change. */
  readonly #slots = new Map<string, number>()
  /** Blocks whose tags are not marked, oldest first. */
  #waiting: { readonly slot: number; readonly digest: BlockDigest }[] = []
  /** Blocks since the last check of an answer. */
  #blocksUnchecked = DIGESTS_MAX
  /** No evicted tag changed after this slot. */
  #floor = -1
  /** The newest slot whose block is in another minute than the block before it. */
  #minuteSlot = -1
  /** The head up to which changes are known. */
  #head: SlotRow | null

  constructor(feed: CommitFeed, tagsMax = TAGS_MAX) {
    this.#feed = feed
    this.#tagsMax = tagsMax
    this.#head = feed.head
    this.#forget()
  }

  /** Follows the feed until the returned function is called. */
  follow(): () => void {
    return this.#feed.follow({
      published: (commit, before) => this.#note(commit, before),
      needs: () => (this.#blocksUnchecked < DIGESTS_MAX ? 'digest' : 'slot')
    })
  }

  /**
   * Returns whether an answer computed at `slot` is still valid: none of its tags changed, and its trigger has not
   * fired.
   */
  holds(tags: readonly string[], trigger: RefreshTrigger, slot: number): boolean {
    this.#blocksUnchecked = 0
    this.#keepUpWith(this.#feed.head)
    if (this.#head === null || this.#head.slot === slot) return true
    if (trigger === 'block' || (trigger === 'minute' && this.#minuteSlot > slot)) return false
    this.#markWaiting()
    return tags.every((tag) => (this.#slots.get(tag) ?? this.#floor) <= slot)
  }

  /** Takes a head that no commit reported; changes before it are unknown, so everything counts as changed. */
  #keepUpWith(head: SlotRow | null): void {
    if (head === this.#head) return
    this.#head = head
    this.#forget()
  }

  #forget(): void {
    this.#slots.clear()
    this.#waiting = []
    this.#floor = this.#minuteSlot = this.#head?.slot ?? -1
  }

  #note(commit: BlockCommit, before: SlotRow | null): void {
    this.#keepUpWith(before)
    const { slot, blockTime } = commit.slot
    if (this.#head === null || minuteOf(this.#head.blockTime) !== minuteOf(blockTime)) this.#minuteSlot = slot
    this.#head = commit.slot
    this.#blocksUnchecked++
    if (extentOf(commit) === 'slot') {
      this.#slots.clear()
      this.#waiting = []
      this.#floor = slot
      return
    }
    this.#waiting.push({ slot, digest: digestOf(commit) })
    if (this.#waiting.length <= DIGESTS_MAX) return
    // All marked tags changed before this block.
    this.#slots.clear()
    this.#floor = this.#waiting.shift()!.slot
  }

  #markWaiting(): void {
    if (this.#waiting.length === 0) return
    for (const { slot, digest } of this.#waiting) for (const tag of tagsOf(digest)) this.#mark(tag, slot)
    this.#waiting = []
    for (const [tag, changedAt] of this.#slots) {
      if (this.#slots.size <= this.#tagsMax) break
      this.#slots.delete(tag)
      this.#floor = changedAt
    }
  }

  #mark(tag: string, slot: number): void {
    this.#slots.delete(tag)
    this.#slots.set(tag, slot)
  }
}

/** Returns a tag in the form that `holds` expects. */
export function tagKey(tag: CacheTag): string {
  return typeof tag === 'string' ? tag : pubkeyMapKey(tag)
}

/** Yields the tags of all objects that a block changes. */
function* tagsOf({ mints, others, hasLaunches, hasSolPrices }: BlockDigest): Generator<string> {
  for (const { mapKey } of mints) yield mapKey
  yield* others
  if (hasLaunches) yield 'launches'
  if (hasSolPrices) yield 'sol-price'
}
