/** What has come and was not taken, in order, and how far the consumer is. */
interface Entry<Item> {
  /** Null: nothing to hand over, only a place that is reached once all before it is taken. */
  readonly item: Item | null
  /** Null: it cannot be asked for again, and taking it moves nothing. */
  readonly cursor: number | null
}

/**
 * I1. `cursor` is a place up to which everything was taken: what waits here is after it, or has no place of its own and
 *     is kept until it is taken.
 */
export class Inbox<Item> {
  #entries: Entry<Item>[] = []
  /** Of `#entries`, before which all is taken. */
  #next = 0
  #cursor: number | null

  constructor(cursor: number | null) {
    this.#cursor = cursor
  }

  /** Null until the first place is known. */
  get cursor(): number | null {
    return this.#cursor
  }

  get size(): number {
    return this.#entries.length - this.#next
  }

  push(item: Item, cursor: number | null): void {
    this.#entries.push({ item, cursor })
  }

  /** Says that all up to a cursor has come. */
  reach(cursor: number): void {
    this.#entries.push({ item: null, cursor })
    this.#passMarks()
  }

  /** The next item; null when there is none. */
  take(): Item | null {
    const entry = this.#entries[this.#next]
    if (entry === undefined) return null
    this.#next++
    this.#moveTo(entry.cursor)
    this.#passMarks()
    return entry.item
  }

  /** Forgets what was not taken and can be asked for again. */
  forget(): void {
    this.#entries = this.#entries.slice(this.#next).filter(({ cursor }) => cursor === null)
    this.#next = 0
  }

  clear(): void {
    this.#entries = []
    this.#next = 0
  }

  #passMarks(): void {
    while (this.#entries[this.#next]?.item === null) this.#moveTo(this.#entries[this.#next++]!.cursor)
    if (this.#next === this.#entries.length) this.clear()
    else if (this.#next > 1_000 && this.#next > this.#entries.length / 2) {
      this.#entries = this.#entries.slice(this.#next)
      this.#next = 0
    }
  }

  #moveTo(cursor: number | null): void {
    if (cursor !== null) this.#cursor = Math.max(cursor, this.#cursor ?? 0)
  }
}
