/** A first-in, first-out queue in one array. */
export class Queue<T> {
  #items: T[] = []
  #next = 0

  get length(): number {
    return this.#items.length - this.#next
  }

  /** The oldest item; the queue must not be empty. */
  get first(): T {
    return this.#items[this.#next]!
  }

  /** The newest item; the queue must not be empty. */
  get last(): T {
    return this.#items.at(-1)!
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Removes the oldest item; the queue must not be empty. */
  shift(): T {
    const item = this.first
    this.#next++
    if (this.#next === this.#items.length) this.clear()
    // Removed items stay in the array until they are half of it.
    else if (this.#next >= 64 && this.#next * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#next)
      this.#next = 0
    }
    return item
  }

  /** Removes the oldest items, and returns them. */
  take(count: number): T[] {
    const items = this.#items.slice(this.#next, this.#next + count)
    for (let left = count; left > 0; left--) this.shift()
    return items
  }

  /** The item at a place counted from the oldest, which is 0. */
  at(place: number): T | undefined {
    return this.#items[this.#next + place]
  }

  clear(): void {
    this.#items = []
    this.#next = 0
  }
}
