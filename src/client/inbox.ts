/** An item that arrived and was not taken yet, or a mark. */
interface Entry<Item> {
  /** Null for a mark: a position that is reached once all earlier items are taken. */
  readonly item: Item | null
  /** Null for an item that cannot be requested again; taking it does not move the position. */
  readonly cursor: number | null
}

/**
 * The queue between a connection and its consumer.
 *
 * I1. `cursor` is a position up to which everything was taken. Every waiting item is after that position, or has no
 * position and is retained until it is taken.
 */
export class Inbox<Item> {
  #entries: Entry<Item>[] = []
  /** Index in `#entries` of the next entry. */
  #next = 0
  #cursor: number | null

  constructor(cursor: number | null) {
    this.#cursor = cursor
  }

  /** Null until the first position is known. */
  get cursor(): number | null {
    return this.#cursor
  }

  get size(): number {
    return this.#entries.length - this.#next
  }

  push(item: Item, cursor: number | null): void {
    this.#entries.push({ item, cursor })
  }

  /** Records that everything up to a cursor has arrived. */
  reach(cursor: number): void {
    this.#entries.push({ item: null, cursor })
    this.#passMarks()
  }

  /** Returns the next item; null if the queue is empty. */
  take(): Item | null {
    const entry = this.#entries[this.#next]
    if (entry === undefined) return null
    this.#next++
    this.#moveTo(entry.cursor)
    this.#passMarks()
    return entry.item
  }

  /** Moves the position back. Nothing that moves the position may be waiting. */
  rewind(cursor: number): void {
    this.#cursor = cursor
  }

  /** Drops the items that can be requested again. */
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
