import type { Frames } from './frames.ts'

/** The frames that a reader of the hub owes for the block that is being published, a part for each of its channels. */
export class BlockFrames {
  #parts: Frames[] | null = null

  add(frames: Frames): void {
    // Most blocks have one part for a reader: a literal list has room for one, a list grown by `push` for seventeen.
    if (this.#parts === null) this.#parts = [frames]
    else this.#parts.push(frames)
  }

  /** Returns the parts, and begins anew; null where the block has none for this reader. */
  take(): readonly Frames[] | null {
    const parts = this.#parts
    this.#parts = null
    return parts
  }
}
