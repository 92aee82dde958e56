import { hash } from 'node:crypto'
import type { Clock } from '../ports.ts'

/** Milliseconds for which a key that the store does not have is not looked up again. */
const UNKNOWN_MS = 10_000
/** Maximum unknown keys in memory, about 1 MB; the oldest are dropped, and looked up again. */
const UNKNOWN_MAX = 10_000
/**
 * Maximum look-ups a second, a fiftieth of what a node of the store answers. Further unknown keys are refused without one:
 * a new key is then known with the next poll of all keys.
 */
const LOOKUPS_PER_SECOND = 50

/**
 * Look-ups of keys that this process does not know, because another process may have made them a moment ago. Each unknown
 * key is looked up once at a time, and not again for `UNKNOWN_MS`.
 */
export class KeyLookups {
  readonly #read: (key: string) => Promise<boolean>
  readonly #clock: Pick<Clock, 'now'>
  /** Ends of the pauses, by the key's digest. The oldest first. */
  readonly #unknown = new Map<string, number>()
  readonly #running = new Map<string, Promise<boolean>>()
  #second = 0
  #inSecond = 0

  /** `read` looks for a key in the store, adds it to those that are known, and tells whether it is there. */
  constructor(read: (key: string) => Promise<boolean>, clock: Pick<Clock, 'now'>) {
    this.#read = read
    this.#clock = clock
  }

  /**
   * Looks a key up: resolves with whether it is known by then, or rejects with the store's error. Returns null if it is not
   * looked up.
   */
  lookUp(key: string): Promise<boolean> | null {
    const digest = hash('sha256', key, 'base64')
    const running = this.#running.get(digest)
    if (running !== undefined) return running
    const nowMs = this.#clock.now()
    if ((this.#unknown.get(digest) ?? 0) > nowMs || !this.#takes(nowMs)) return null
    const looked = this.#look(key, digest).finally(() => this.#running.delete(digest))
    this.#running.set(digest, looked)
    return looked
  }

  async #look(key: string, digest: string): Promise<boolean> {
    const isKnown = await this.#read(key)
    this.#unknown.delete(digest)
    if (isKnown) return true
    this.#unknown.set(digest, this.#clock.now() + UNKNOWN_MS)
    if (this.#unknown.size > UNKNOWN_MAX) this.#unknown.delete(this.#unknown.keys().next().value!)
    return false
  }

  #takes(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000)
    if (second !== this.#second) [this.#second, this.#inSecond] = [second, 0]
    return this.#inSecond++ < LOOKUPS_PER_SECOND
  }
}
