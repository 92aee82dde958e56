import type { CommitFeed } from '../views/commit-feed.ts'
import type { SlotRow } from '../market/rows.ts'
import type { Clock } from '../ports.ts'
import { SecondChance } from '../memory/second-chance.ts'
import { TouchLog, ownerKey, type Owner, type Pace } from '../views/touch-log.ts'
import { withinDeadline } from './deadline.ts'
import type { RouteScope } from './plugins/access.ts'
import { Rendering } from './rendering.ts'

/** JSON text that a handler has written itself, for lists where that is much faster than an object for each row. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What a cached endpoint answers, and what has to stay as it is for the answer to hold. */
export interface Answer<Body> {
  /**
   * The body; or, where a field of it follows the head's block time alone (an age), what makes it for a time in unix
   * seconds, from what the handler has read.
   */
  readonly body: Body | JsonText | ((headTime: number) => Body | JsonText)
  readonly dependsOn: readonly Owner[]
  /** `minute` for rolling windows and whatever else follows the head's minute; `block` for what every block changes. */
  readonly changesWith: Pace
}

/** The key of what a tenant is answered; no URL holds a space, so that no tenant's name makes the key of another's. */
export function answerKey(url: string, tenant: string): string {
  return `${url} ${tenant}`
}

/** What answers are made with: the head that was known before anything was read, and the end of patience. */
export interface Making {
  readonly head: SlotRow | null
  readonly signal: AbortSignal
}

/** Memory for answers, outside the heap, where nobody says how much; those that nobody asked for again leave first. */
const BYTES_MAX = 256 * 2 ** 20
/** An answer that takes more than this part of the memory is not kept. */
const PART_MAX = 1 / 8
/** What an answer costs besides its key and its bytes: its tag, its owners and the entries that hold them. */
const OVERHEAD_BYTES = 1024
/** Gzip forms that are made at a time. */
const PACKING_MAX = 2

/** The route that an answer was asked for through. */
export interface AnsweredRoute {
  /** With parameters as `:mint`. */
  readonly path: string
  readonly scope: RouteScope
}

/** An answer that is kept, and holds. */
export interface KeptAnswer {
  readonly route: AnsweredRoute
  readonly rendering: Rendering
}

interface Kept extends KeptAnswer {
  readonly render: ((headTime: number) => string) | null
  readonly owners: readonly string[]
  readonly pace: Pace
  /** The newest slot at which the answer is known to hold. */
  slot: number
  /** The block time that it is rendered for. */
  headTime: number
  rendering: Rendering
}

interface Flight {
  readonly slot: number
  readonly rendering: Promise<Rendering>
}

/**
 * Answers by the request that asked for them, served again for as long as no block has changed what they depend on.
 *
 * A1. The head is noted before a handler reads: what was read may be newer than the note, never older.
 * A2. An answer is served only if none of its owners was touched, and its pace did not change, after its slot.
 * A3. Requests for one answer at one head share one making of it.
 * A4. Where stored blocks have changed, no answer of before is served, nor one whose making began before.
 */
export class Answers {
  readonly #feed: CommitFeed
  readonly #clock: Clock
  readonly #touches: TouchLog
  readonly #bytesMax: number
  readonly #kept: SecondChance<Kept>
  /** No more than there are open requests. */
  readonly #flights = new Map<string, Flight>()
  #packing = 0
  /** Counts how often all was forgotten. */
  #generation = 0

  constructor(
    feed: CommitFeed,
    clock: Clock,
    limits: { bytesMax?: number | undefined; ownersMax?: number } = {}
  ) {
    this.#feed = feed
    this.#clock = clock
    this.#touches = new TouchLog(feed, limits.ownersMax)
    this.#bytesMax = limits.bytesMax ?? BYTES_MAX
    this.#kept = new SecondChance(this.#bytesMax)
  }

  /** Bytes in use; never above the limit. */
  get bytes(): number {
    return this.#kept.bytes
  }

  /** The most that it may take. */
  get bytesMax(): number {
    return this.#bytesMax
  }

  /** Of what is kept. */
  get keys(): Iterable<string> {
    return this.#kept.keys()
  }

  get size(): number {
    return this.#kept.size
  }

  /** The newest committed block, as the feed tells it. */
  get head(): SlotRow | null {
    return this.#feed.head
  }

  /** Keeps up with the feed until the returned function is called. */
  follow(): () => void {
    const unfollow = this.#touches.follow()
    const unheed = this.#feed.onJump(() => this.#forget())
    return () => {
      unfollow()
      unheed()
    }
  }

  /** The kept answer of a key, if it still holds. */
  fresh(key: string): KeptAnswer | null {
    const kept = this.#kept.get(key)
    if (kept === undefined) return null
    const { head } = this.#feed
    const slot = slotOf(head)
    if (kept.slot !== slot) {
      if (!this.#touches.holds(kept.owners, kept.pace, kept.slot)) {
        this.#kept.delete(key)
        return null
      }
      kept.slot = slot
      if (kept.render !== null && head !== null && head.blockTime !== kept.headTime) {
        kept.rendering = new Rendering(kept.render(head.blockTime))
        kept.headTime = head.blockTime
        this.#keep(key, kept)
      }
    }
    return kept
  }

  /**
   * The gzip form of a key's answer, kept with it. Null while others are being made: packing shares its threads with
   * the store, so an answer goes out as it is rather than wait for one.
   */
  packed(key: string, rendering: Rendering): Buffer | Promise<Buffer> | null {
    if (rendering.packed !== null) return rendering.packed
    if (this.#packing === PACKING_MAX) return null
    return this.#pack(key, rendering)
  }

  /** Makes the answer of a key and keeps it, or joins who is making it; rejects as `make` does, or at the deadline. */
  async make<Body>(
    key: string,
    route: AnsweredRoute,
    make: (making: Making) => Promise<Answer<Body>>
  ): Promise<Rendering> {
    const slot = slotOf(this.#feed.head)
    const running = this.#flights.get(key)
    if (running?.slot === slot) return running.rendering
    const flight = { slot, rendering: this.#make(key, route, this.#feed.head, make) }
    this.#flights.set(key, flight)
    try {
      return await flight.rendering
    } finally {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    }
  }

  /** Works within the deadline that every answer has. */
  async within<T>(work: (making: Making) => Promise<T>): Promise<T> {
    const { head } = this.#feed
    return withinDeadline(this.#clock, (signal) => work({ head, signal }))
  }

  async #make<Body>(
    key: string,
    route: AnsweredRoute,
    head: SlotRow | null,
    make: (making: Making) => Promise<Answer<Body>>
  ): Promise<Rendering> {
    const generation = this.#generation
    const { body, dependsOn, changesWith } = await withinDeadline(this.#clock, (signal) =>
      make({ head, signal })
    )
    const render = isRenderer(body) ? (headTime: number) => textOf(body(headTime)) : null
    const headTime = head?.blockTime ?? 0
    const rendering = new Rendering(render === null ? textOf(body) : render(headTime))
    if (rendering.size <= this.#bytesMax * PART_MAX && generation === this.#generation) {
      const owners = dependsOn.map(ownerKey)
      this.#keep(key, { route, render, owners, pace: changesWith, slot: slotOf(head), headTime, rendering })
    }
    return rendering
  }

  #forget(): void {
    this.#generation++
    this.#kept.clear()
    this.#flights.clear()
  }

  async #pack(key: string, rendering: Rendering): Promise<Buffer> {
    this.#packing++
    try {
      const packed = await rendering.pack()
      const kept = this.#kept.get(key)
      if (kept?.rendering === rendering) this.#keep(key, kept)
      return packed
    } finally {
      this.#packing--
    }
  }

  /** Keeps an answer, counted as it is now: it grows by its gzip form, and a rendering takes another's place. */
  #keep(key: string, kept: Kept): void {
    this.#kept.set(key, kept, OVERHEAD_BYTES + 2 * key.length + kept.rendering.size)
  }
}

function isRenderer<Body>(body: Answer<Body>['body']): body is (headTime: number) => Body | JsonText {
  return typeof body === 'function'
}

function textOf(body: unknown): string {
  return body instanceof JsonText ? body.text : JSON.stringify(body)
}

/** The slot of a head; below every slot where there is none. */
function slotOf(head: SlotRow | null): number {
  return head?.slot ?? -1
}
