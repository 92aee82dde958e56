/** Sizes between two powers of two: a new buffer is at most an eighth larger than what it is taken for. */
const STEPS = 8
/** Larger sizes that are also searched for a buffer: the answers that come and go are seldom of equal sizes. */
const LARGER_SIZES = 2
/** A larger buffer is not kept: answers of this size are rare. */
const LENGTH_MAX = 2 ** 20

/**
 * Buffers that are used again. The garbage collector knows little of their size, and collects the whole heap after each 64 MB
 * of new ones, which takes 150 ms of CPU time.
 */
export class RecycledBuffers {
  readonly #bytesMax: number
  readonly #free = new Map<number, Buffer[]>()
  #bytes = 0

  /** Takes the maximum number of bytes that are kept unused. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes kept unused. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns a buffer of at least this length, at least 1, with arbitrary contents. */
  take(length: number): Buffer {
    const size = sizeOf(length)
    for (let more = 0, each = size; more <= LARGER_SIZES; more++, each = sizeOf(each + 1)) {
      const found = this.#free.get(each)?.pop()
      if (found === undefined) continue
      this.#bytes -= each
      return found
    }
    return Buffer.allocUnsafeSlow(size)
  }

  /** Keeps a buffer that `take` returned, if there is room. It must not be in use any more. */
  give(buffer: Buffer): void {
    const { length } = buffer
    if (length > LENGTH_MAX || this.#bytes + length > this.#bytesMax) return
    const same = this.#free.get(length)
    if (same === undefined) this.#free.set(length, [buffer])
    else same.push(buffer)
    this.#bytes += length
  }
}

function sizeOf(length: number): number {
  const step = Math.max(1, 2 ** Math.floor(Math.log2(length)) / STEPS)
  return Math.ceil(length / step) * step
}
