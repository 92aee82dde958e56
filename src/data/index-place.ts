import type { Clock } from '../ports.ts'

/**
 * The state of names and rankings of all mints in a process. `none`: it can never hold them; `free`: it can, and does not;
 * `loading` and `loaded`: it holds them, and answers questions of other processes once they are loaded.
 */
export const INDEX_STATES = ['none', 'free', 'loading', 'loaded'] as const
export type IndexState = (typeof INDEX_STATES)[number]

/** A process of the service, by its announcement. */
interface AnnouncedProcess {
  readonly id: string
  readonly isThis: boolean
  readonly announcement: {
    readonly roles: readonly string[]
    /** Null from a version that does not say which products it serves. */
    readonly products: readonly string[] | null
    readonly index: IndexState
    readonly startedAtMs: number
    readonly isDraining: boolean
  }
}

/** The live processes of the service. */
export interface AnnouncedProcesses {
  /** Id of this process. */
  readonly id: string
  /** Whether announcements were read a moment ago. */
  readonly isHearing: boolean
  readonly processes: readonly AnnouncedProcess[]
}

/** Gateways that hold the index: one answers the others, and one takes its place without loading anything. */
export const INDEX_HOLDERS = 2
/**
 * Milliseconds for which a gateway must be among the holders before it loads the index. After a restart of Redis, a process
 * hears the others within two announcements, and must not load before.
 */
const TAKE_MS = 3_000
/** Milliseconds for which other gateways must hold the index, loaded, before this one drops it. Loading takes as long. */
const RELEASE_MS = 10_000

export interface IndexPlaceOptions {
  readonly fleet: AnnouncedProcesses
  readonly clock: Pick<Clock, 'now'>
  /** The state that this process announces. */
  readonly state: { current: IndexState }
  /** Whether other processes can have the store open. */
  readonly isShared: boolean
  /** Whether the operator lets this process hold the index; by default it may. */
  readonly mayHold?: boolean
  /** Whether names and rankings of this process are loaded. */
  readonly isLoaded: () => boolean
}

/**
 * Decides whether this gateway holds the index: the names, rankings and windows of all mints.
 *
 * I1. The gateways that have run longest hold it: `INDEX_HOLDERS` of them. All others ask them, so their memory does not
 *     grow with the number of mints. Every gateway decides by the announcements that it hears. Two that decide differently
 *     for a while both hold the index, which costs memory and changes no answer.
 * I2. A gateway that has started decides at once. Later decisions need `TAKE_MS` or `RELEASE_MS` without a change. While no
 *     announcements are heard, nothing is decided: all others would seem to be gone.
 * I3. A gateway drops the index only while as many others as needed have it loaded.
 * I4. The only process of a store holds the index. A process that may not hold it always asks.
 */
export class IndexPlace {
  readonly #options: IndexPlaceOptions
  readonly #listeners = new Set<() => void>()
  #isHeld: boolean | null
  /** When the other decision became due, by the clock; null while it is not. */
  #dueSinceMs: number | null = null
  #loaded: readonly string[] = []
  #isAsked = true

  constructor(options: IndexPlaceOptions) {
    this.#options = options
    const { isShared, mayHold = true, state } = options
    this.#isHeld = !isShared ? true : mayHold ? null : false
    if (isShared && mayHold) state.current = 'free'
  }

  /** Whether this process holds the index; null before the first decision. */
  get isHeld(): boolean | null {
    return this.#isHeld
  }

  /** Whether another process can be asked. */
  get isAnsweredElsewhere(): boolean {
    return this.#loaded.some((id) => id !== this.#options.fleet.id)
  }

  /** Position of this process among those that answer, from 0: each answers what those before it have not. Null if it does not. */
  get rank(): number | null {
    const rank = this.#loaded.indexOf(this.#options.fleet.id)
    return rank === -1 ? null : rank
  }

  /** Whether another process may ask: a gateway that has no loaded index, or one that is not heard. */
  get isAsked(): boolean {
    return this.#isAsked
  }

  /** Calls `listener` after each decision, until the returned function is called. It must not throw. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Decides by the newest announcements. To be called about once a second. */
  update(): void {
    const { fleet, clock, state, isShared, isLoaded, mayHold = true } = this.#options
    if (!isShared) return
    const { processes } = fleet
    this.#isAsked = !fleet.isHearing || processes.some((each) => !each.isThis && mayAsk(each))
    const able = processes
      .filter(({ announcement: { index, isDraining } }) => index !== 'none' && !isDraining)
      .sort(byStart)
    const holders = able.slice(0, INDEX_HOLDERS)
    const isAmong = !fleet.isHearing || holders.some(({ isThis }) => isThis)
    if (this.#isHeld === null) this.#decide(isAmong)
    else if (mayHold && fleet.isHearing && this.#isDue(isAmong, holders)) {
      const nowMs = clock.now()
      this.#dueSinceMs ??= nowMs
      if (nowMs - this.#dueSinceMs >= (isAmong ? TAKE_MS : RELEASE_MS)) this.#decide(isAmong)
    } else this.#dueSinceMs = null
    if (mayHold) state.current = this.#isHeld !== true ? 'free' : isLoaded() ? 'loaded' : 'loading'
    this.#loaded = able
      .filter(({ isThis, announcement }) => (isThis ? state.current : announcement.index) === 'loaded')
      .map(({ id }) => id)
  }

  /** Tells whether this process should decide otherwise than it has (I3). */
  #isDue(isAmong: boolean, holders: readonly AnnouncedProcess[]): boolean {
    if (isAmong) return this.#isHeld === false
    return this.#isHeld === true && holders.every(({ announcement: { index } }) => index === 'loaded')
  }

  #decide(isHeld: boolean): void {
    this.#dueSinceMs = null
    if (this.#isHeld === isHeld) return
    this.#isHeld = isHeld
    for (const listener of this.#listeners) listener()
  }
}

const mayAsk = ({ announcement: { roles, products, index } }: AnnouncedProcess): boolean =>
  roles.includes('gateway') && index !== 'loaded' && (products?.includes('data') ?? true)

const byStart = (a: AnnouncedProcess, b: AnnouncedProcess): number =>
  a.announcement.startedAtMs - b.announcement.startedAtMs || (a.id < b.id ? -1 : 1)
