import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { CommitFeed } from '../feed/commit-feed.ts'
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
 * Tracks the newest slot that changed the object of each tag, so that answers computed at a slot can be checked for
 * validity.
 */
export class InvalidationIndex {
  readonly #feed: CommitFeed
  readonly #tagsMax: number
  /** Ascending by newest change. */
  readonly #slots = new Map<string, number>()
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
    return this.#feed.follow((commit, before) => this.#note(commit, before))
  }

  /**
   * Returns whether an answer computed at `slot` is still valid: none of its tags changed, and its trigger has not
   * fired.
   */
  holds(tags: readonly string[], trigger: RefreshTrigger, slot: number): boolean {
    this.#keepUpWith(this.#feed.head)
    if (this.#head === null || this.#head.slot === slot) return true
    if (trigger === 'block' || (trigger === 'minute' && this.#minuteSlot > slot)) return false
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
    this.#floor = this.#minuteSlot = this.#head?.slot ?? -1
  }

  #note(commit: BlockCommit, before: SlotRow | null): void {
    this.#keepUpWith(before)
    const { slot, blockTime } = commit.slot
    if (this.#head === null || minuteOf(this.#head.blockTime) !== minuteOf(blockTime)) this.#minuteSlot = slot
    this.#head = commit.slot
    for (const tag of tagsOf(commit)) this.#mark(tagKey(tag), slot)
    for (const [tag, changedAt] of this.#slots) {
      if (this.#slots.size <= this.#tagsMax) break
      this.#slots.delete(tag)
      this.#floor = changedAt
    }
  }

  #mark(tag: string, slot: number): void {
    if (this.#slots.get(tag) === slot) return
    this.#slots.delete(tag)
    this.#slots.set(tag, slot)
  }
}

/** Returns a tag in the form that `holds` expects. */
export function tagKey(tag: CacheTag): string {
  return typeof tag === 'string' ? tag : pubkeyMapKey(tag)
}

/** Yields the tags of all objects that a block changes; some of them repeatedly. */
function* tagsOf(commit: BlockCommit): Generator<CacheTag> {
  for (const { mint, pool, user } of commit.trades) yield* [mint, pool, user]
  for (const { pool } of commit.poolEvents) yield pool
  for (const { owner } of commit.activity) yield owner
  for (const { mint } of commit.candles) yield mint
  for (const { mint } of commit.pairs) yield mint
  for (const { mint } of commit.tokens) yield mint
  for (const { pool, base, quote } of commit.pools) yield* [pool, base, quote]
  for (const { mint, curve } of commit.curves) yield* [mint, curve]
  for (const { mint, curve } of commit.launches) yield* [mint, curve]
  if (commit.launches.length > 0) yield 'launches'
  if (commit.solPrices.length > 0) yield 'sol-price'
}
