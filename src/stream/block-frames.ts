import type { Frames } from './frames.ts'

/** The frames for a reader of the hub in the block being published, one list for each of its channels. */
export class BlockFrames {
  #parts: Frames[] | null = null

  /** Returns whether these are the first frames of the block. */
  add(frames: Frames): boolean {
    // Most blocks have one list of frames per reader. A literal array has room for one element, an array grown by
    // `push` for seventeen.
    if (this.#parts === null) {
      this.#parts = [frames]
      return true
    }
    this.#parts.push(frames)
    return false
  }

  /** Returns the lists and resets; null if the block has no frames for this reader. */
  take(): readonly Frames[] | null {
    const parts = this.#parts
    this.#parts = null
    return parts
  }
}
