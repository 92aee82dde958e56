import { TimedCache } from '../memory/timed-cache.ts'
import { SingleFlight } from '../work/single-flight.ts'
import type { CommitFeed } from '../feed/commit-feed.ts'
import type { SlotRow } from '../../market/rows.ts'
import type { Clock } from '../../ports.ts'
import { InvalidationIndex, tagKey, type RefreshTrigger } from './invalidation-index.ts'
import { withinDeadline, withinWriteLimit } from './deadline.ts'
import { isRenderer, type Answer, type Making, type MakingLimits } from './answer.ts'
import { OPEN } from './in-turn.ts'
import type { RouteScope } from './plugins/access.ts'
import { Rendering } from './rendering.ts'
import type { AnswerTerms } from './respond.ts'
import { slicedRendering } from './sliced-json.ts'

/** Default bytes of memory for answers, outside the heap. Answers without a second request are evicted first. */
const BYTES_MAX = 256 * 2 ** 20
/** Largest share of the memory that one answer may take; a larger answer is not cached. */
const PART_MAX = 1 / 8
/** Estimated bytes of an answer in addition to its key and body: its entity tag, its tags and the map entries. */
const OVERHEAD_BYTES = 1024
/** Estimated bytes of the rows from which an answer is rendered again: a price holds 4.3 KB in all, an overview 4.9. */
const ROWS_BYTES = 2048
/** Gzip forms compressed at a time. */
const PACKING_MAX = 2

/** The route of a cached answer. */
export interface CachedRoute {
  /** With parameters as `:mint`. */
  readonly path: string
  readonly scope: RouteScope
  /** Terms of its answers; absent for those of JSON. */
  readonly terms?: AnswerTerms
}

/** A cached answer that is still valid. */
export interface CachedAnswer {
  readonly route: CachedRoute
  readonly rendering: Rendering
}

interface CacheEntry extends CachedAnswer {
  readonly render: ((headTime: number) => string) | null
  readonly tags: readonly string[]
  readonly trigger: RefreshTrigger
  readonly isCurrent: (() => boolean) | undefined
  /** The newest slot at which the answer is known to be valid. */
  slot: number
  /** The block time, in Unix seconds, for which the answer is rendered. */
  headTime: number
  rendering: Rendering
}

/**
 * Cache of rendered answers by request, valid until a block changes a value they depend on.
 *
 * A1. The head is noted before a handler reads. So the rows may be newer than the noted head, never older.
 * A2. An answer is served only if no object of its tags was changed after its slot, and neither its refresh interval
 *     nor its maximum age has ended.
 * A3. Concurrent requests for one answer at one head share one computation.
 * A4. After an amendment of stored blocks, no answer is served whose computation began before the amendment.
 * A5. An answer that is not cached is also made again if blocks of a fork were removed while it was made.
 */
export class ResponseCache {
  readonly #feed: CommitFeed
  readonly #clock: Clock
  readonly #invalidation: InvalidationIndex
  readonly #bytesMax: number
  readonly #entries: TimedCache<CacheEntry>
  /** Running computations by slot of the head and key. Each has an open request, so the limit of connections is theirs. */
  readonly #flights = new SingleFlight<Rendering>()
  #packing = 0
  /** Number of times the whole cache was invalidated. */
  #generation = 0

  constructor(
    feed: CommitFeed,
    clock: Clock,
    limits: { bytesMax?: number | undefined; tagsMax?: number } = {}
  ) {
    this.#feed = feed
    this.#clock = clock
    this.#invalidation = new InvalidationIndex(feed, limits.tagsMax)
    this.#bytesMax = limits.bytesMax ?? BYTES_MAX
    this.#entries = new TimedCache(clock, { bytesMax: this.#bytesMax }, ({ rendering }) =>
      rendering.release()
    )
  }

  /** Bytes in use; never above the limit. */
  get bytes(): number {
    return this.#entries.bytes
  }

  /** Limit in bytes. */
  get bytesMax(): number {
    return this.#bytesMax
  }

  /** Keys of the cached answers. */
  get keys(): Iterable<string> {
    return this.#entries.keys()
  }

  get size(): number {
    return this.#entries.size
  }

  /** The newest committed block of the feed. */
  get head(): SlotRow | null {
    return this.#feed.head
  }

  /** Follows the feed. Returns a function that stops following. */
  follow(): () => void {
    const unfollow = this.#invalidation.follow()
    const unheed = this.#feed.onJump(() => this.forget())
    return () => {
      unfollow()
      unheed()
    }
  }

  /** Returns the cached answer of a key if it is still valid, else null. Its user calls `Rendering.useFor`. */
  fresh(key: string): CachedAnswer | null {
    const entry = this.#entries.get(key)
    if (entry === undefined) return null
    if (entry.isCurrent?.() === false) return this.#drop(key, entry)
    const { head } = this.#feed
    const slot = slotOf(head)
    if (entry.slot !== slot) {
      if (!this.#invalidation.holds(entry.tags, entry.trigger, entry.slot)) return this.#drop(key, entry)
      entry.slot = slot
      if (entry.render !== null && head !== null && head.blockTime !== entry.headTime) {
        entry.rendering = new Rendering(entry.render(head.blockTime))
        entry.headTime = head.blockTime
        this.#entries.weigh(key, bytesOf(key, entry))
      }
    }
    return entry
  }

  #drop(key: string, { rendering }: CacheEntry): null {
    this.#entries.delete(key)
    rendering.release()
    return null
  }

  /**
   * Returns the gzip form of a key's answer, which is cached with it. Null while `PACKING_MAX` others are being
   * compressed: compression shares its threads with the store, so the answer is sent uncompressed instead of waiting.
   */
  packed(key: string, rendering: Rendering): Buffer | Promise<Buffer> | null {
    if (rendering.packed !== null) return rendering.packed
    if (this.#packing === PACKING_MAX) return null
    return this.#pack(key, rendering)
  }

  /**
   * Computes the answer of a key and caches it, or joins a running computation. Rejects with the error of `make`, or
   * with DEADLINE_EXCEEDED.
   */
  make<Body>(
    key: string,
    route: CachedRoute,
    make: (making: Making) => Promise<Answer<Body>>,
    limits: MakingLimits = {}
  ): Promise<Rendering> {
    return this.#flights.run(this.#flightOf(key), () => this.#make(key, route, make, limits))
  }

  /**
   * Returns the cached answer of a key, or its running computation at this head; null if neither exists. Its user calls
   * `Rendering.useFor`.
   */
  find(key: string): Rendering | Promise<Rendering> | null {
    return this.fresh(key)?.rendering ?? this.#flights.get(this.#flightOf(key)) ?? null
  }

  /** Runs work within the deadline of an answer, and while its client waits for it (A5). */
  async within<T>(
    work: (making: Making) => Promise<T>,
    { deadlineMs, slicesOf = OPEN, left }: MakingLimits = {}
  ): Promise<T> {
    const { made } = await this.#ofOneFork((head) =>
      withinDeadline(
        this.#clock,
        (signal) => work({ head, signal, slices: slicesOf(signal) }),
        deadlineMs,
        left
      )
    )
    return made
  }

  /** Runs work that changes something, as `withinWriteLimit` does. */
  async changing<T>(
    work: (making: Making) => Promise<T>,
    { slicesOf = OPEN, ...options }: Parameters<typeof withinWriteLimit>[2] & Pick<MakingLimits, 'slicesOf'>
  ): Promise<T> {
    const { head } = this.#feed
    return withinWriteLimit(
      this.#clock,
      (signal) => work({ head, signal, slices: slicesOf(signal) }),
      options
    )
  }

  async #make<Body>(
    key: string,
    route: CachedRoute,
    make: (making: Making) => Promise<Answer<Body>>,
    { deadlineMs, slicesOf = OPEN }: MakingLimits
  ): Promise<Rendering> {
    const { made, head, generation } = await this.#ofOneFork((head) =>
      withinDeadline(
        this.#clock,
        async (signal) => {
          const slices = slicesOf(signal)
          const answer = await make({ head, signal, slices })
          const body = isRenderer(answer.body) ? answer.body(head?.blockTime ?? 0) : answer.body
          const rendering = await (answer.render?.(body, slices) ?? slicedRendering(body, slices))
          return { answer, rendering }
        },
        deadlineMs
      )
    )
    const { answer, rendering } = made
    const { body, dependsOn, changesWith, isCurrent, maxAgeMs } = answer
    const render = isRenderer(body) ? textRenderer(body) : null
    if (rendering.size <= this.#bytesMax * PART_MAX && generation === this.#generation) {
      const tags = dependsOn.map(tagKey)
      const endsAtMs = maxAgeMs === undefined ? Infinity : this.#clock.now() + maxAgeMs
      const slot = slotOf(head)
      const headTime = head?.blockTime ?? 0
      const value = { route, render, tags, trigger: changesWith, isCurrent, slot, headTime, rendering }
      this.#entries.atAnyAge(key)?.rendering.release()
      this.#entries.set(key, { value, endsAtMs, bytes: bytesOf(key, value) })
    }
    return rendering
  }

  /**
   * Makes an answer at the head. If the blocks of a fork were removed, or another archive was served, between two of its
   * reads, its rows may mix both: the answer is made once more. `head` and `generation` date from before the reads.
   */
  async #ofOneFork<T>(
    make: (head: SlotRow | null) => Promise<T>
  ): Promise<{ readonly made: T; readonly head: SlotRow | null; readonly generation: number }> {
    for (let isAgain = false; ; isAgain = true) {
      const generation = this.#generation
      const { head } = this.#feed
      const made = await make(head)
      if (isAgain || generation === this.#generation) return { made, head, generation }
    }
  }

  /** Invalidates every answer, including running computations. */
  forget(): void {
    this.#generation++
    this.#entries.clear()
    this.#flights.clear()
  }

  async #pack(key: string, rendering: Rendering): Promise<Buffer> {
    this.#packing++
    try {
      const packed = await rendering.pack()
      const entry = this.#entries.atAnyAge(key)
      if (entry?.rendering === rendering) this.#entries.weigh(key, bytesOf(key, entry))
      return packed
    } finally {
      this.#packing--
    }
  }

  #flightOf(key: string): string {
    return `${slotOf(this.#feed.head)} ${key}`
  }
}

/** Returns a renderer of JSON. A cached answer keeps it, so it holds nothing else of the request. */
function textRenderer(body: (headTime: number) => unknown): (headTime: number) => string {
  return (headTime) => JSON.stringify(body(headTime))
}

/** Estimates the bytes of an answer, which change with its gzip form and with a new rendering. */
function bytesOf(key: string, { rendering, render }: Pick<CacheEntry, 'rendering' | 'render'>): number {
  return OVERHEAD_BYTES + (render === null ? 0 : ROWS_BYTES) + 2 * key.length + rendering.size
}

/** Returns the slot of a head; -1 (below every slot) on an empty store. */
function slotOf(head: SlotRow | null): number {
  return head?.slot ?? -1
}
