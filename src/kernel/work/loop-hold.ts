/**
 * The longest time, and the most slices of work that ran concurrently, between two polls of the sockets. Each is read and
 * reset by a scrape, as the metric of the event loop's lag is.
 */
export class LoopHold {
  #beganMs: number | null = null
  #slices = 0
  #slicesMax = 0
  #longestMs = 0

  /** Start of the first slice since the last poll; null before that slice. */
  get beganMs(): number | null {
    return this.#beganMs
  }

  /** Number of slices that have begun since the last poll and have not ended: their time is not known yet. */
  get slices(): number {
    return this.#slices
  }

  /** Begins a slice. Returns whether it is the first one since the last poll. */
  begin(nowMs: number): boolean {
    this.#slicesMax = Math.max(this.#slicesMax, ++this.#slices)
    if (this.#beganMs !== null) return false
    this.#beganMs = nowMs
    return true
  }

  /** Ends a slice that began at `beganMs`. */
  endSlice(beganMs: number): void {
    if (this.#beganMs !== null && beganMs >= this.#beganMs && this.#slices > 0) this.#slices--
  }

  /** Ends the time between two polls: the sockets have been polled. */
  end(nowMs: number): void {
    if (this.#beganMs !== null) this.#longestMs = Math.max(this.#longestMs, nowMs - this.#beganMs)
    this.#beganMs = null
    this.#slices = 0
  }

  /** Returns the longest time since the last call, in milliseconds. */
  takeLongestMs(): number {
    const longest = this.#longestMs
    this.#longestMs = 0
    return longest
  }

  /** Returns the most slices since the last call. */
  takeSlicesMax(): number {
    const most = this.#slicesMax
    this.#slicesMax = 0
    return most
  }
}
