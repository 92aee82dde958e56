import type {
  ReadingClaim,
  SharedReading,
  SharedReadings,
  StoredReading
} from '../../storage/port/readings.ts'

type Heard = (keys: readonly string[] | null) => void

/**
 * Readings at the first of two servers while it is available, and at the second one otherwise. A change of server counts as a
 * loss of notifications: what other processes stored at the other server may have been missed.
 */
export class AvailableReadings implements SharedReadings {
  readonly #first: SharedReadings
  readonly #second: SharedReadings
  readonly #onChange: (isFirst: boolean) => void
  readonly #followers = new Set<Heard>()
  #isFirst: boolean

  /** `onChange` is called with whether the first server is the one in use. */
  constructor(first: SharedReadings, second: SharedReadings, onChange: (isFirst: boolean) => void) {
    this.#first = first
    this.#second = second
    this.#onChange = onChange
    this.#isFirst = first.available
  }

  get available(): boolean {
    return this.#current.available
  }

  get notifies(): boolean {
    return this.#current.notifies
  }

  claim(asks: Parameters<SharedReadings['claim']>[0]): Promise<readonly ReadingClaim[]> {
    return this.#current.claim(asks)
  }

  put(readings: readonly SharedReading[]): Promise<readonly (StoredReading | null)[]> {
    return this.#current.put(readings)
  }

  release(keys: readonly string[]): Promise<void> {
    return this.#current.release(keys)
  }

  read(keys: readonly string[]): Promise<readonly (StoredReading | null)[]> {
    return this.#current.read(keys)
  }

  subscribe(heard: Heard): () => void {
    this.#followers.add(heard)
    const unsubscribe = [this.#first.subscribe(heard), this.#second.subscribe(heard)]
    return () => {
      this.#followers.delete(heard)
      for (const each of unsubscribe) each()
    }
  }

  get #current(): SharedReadings {
    const isFirst = this.#first.available
    if (isFirst !== this.#isFirst) {
      this.#isFirst = isFirst
      this.#onChange(isFirst)
      queueMicrotask(() => {
        for (const heard of this.#followers) heard(null)
      })
    }
    return isFirst ? this.#first : this.#second
  }
}
