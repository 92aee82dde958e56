import type { Frames } from '../stream/frames.ts'
import { Queue } from './queue.ts'

/** The events of some frames from an index up to another one, which is excluded. */
interface Run {
  readonly frames: Frames
  from: number
  to: number
}

/** A queue of events in frames. Those that follow each other in the same frames share an entry. */
export class NearEvents {
  readonly #runs = new Queue<Run>()
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The place of the oldest event; the queue must not be empty. */
  get first(): { readonly frames: Frames; readonly index: number } {
    const { frames, from } = this.#runs.first
    return { frames, index: from }
  }

  push(frames: Frames, index: number): void {
    const last = this.#length === 0 ? null : this.#runs.last
    if (last?.frames === frames && last.to === index) last.to++
    else this.#runs.push({ frames, from: index, to: index + 1 })
    this.#length++
  }

  /** Removes the oldest event, and returns its cursor; the queue must not be empty. */
  shift(): number {
    const run = this.#runs.first
    const cursor = run.frames.cursors[run.from++]!
    if (run.from === run.to) this.#runs.shift()
    this.#length--
    return cursor
  }

  clear(): void {
    this.#runs.clear()
    this.#length = 0
  }
}
