/** Sizes between two powers of two: a new buffer is at most an eighth larger than what it is taken for. */
const STEPS = 8
/** Larger sizes that are also searched for a buffer: the answers that come and go are seldom of equal sizes. */
const LARGER_SIZES = 2
/** A larger buffer is not kept: the longest lists, pages of 1,000 trades, are gathered in 3 MiB. */
const LENGTH_MAX = 4 * 2 ** 20

/**
 * Buffers that are used again. The garbage collector knows little of their size, and collects the whole heap after each 64 MB
 * of new ones, which takes 150 ms of CPU time.
 */
export class RecycledBuffers {
  #bytesMax: number
  readonly #free = new Map<number, Buffer[]>()
  #bytes = 0

  /** Takes the maximum number of bytes that are kept unused. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Changes the maximum number of bytes that are kept unused. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax
    while (this.#bytes > bytesMax) this.#drop()
  }

  /** Bytes kept unused. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns a buffer of at least this length, at least 1, with arbitrary contents. */
  take(length: number): Buffer {
    const size = sizeOf(length)
    for (let more = 0, each = size; more <= LARGER_SIZES; more++, each = sizeOf(each + 1)) {
      const found = this.#listOf(each)?.pop()
      if (found === undefined) continue
      this.#bytes -= each
      return found
    }
    return Buffer.allocUnsafeSlow(size)
  }

  /**
   * Keeps a buffer that `take` returned; it must not be in use any more. If there is no room, buffers of the size that was not
   * taken for the longest time make room: their memory is freed at once, and they have length 0 afterwards.
   */
  give(buffer: Buffer): void {
    const { length } = buffer
    if (length > LENGTH_MAX || length > this.#bytesMax) return free(buffer)
    const same = this.#free.get(length)
    if (same === undefined) this.#free.set(length, [buffer])
    else same.push(buffer)
    this.#bytes += length
    while (this.#bytes > this.#bytesMax) this.#drop()
  }

  /** Returns the buffers of a size, which has been taken now. */
  #listOf(size: number): Buffer[] | undefined {
    const list = this.#free.get(size)
    if (list === undefined) return undefined
    this.#free.delete(size)
    this.#free.set(size, list)
    return list
  }

  #drop(): void {
    const [size, list] = this.#free.entries().next().value!
    const dropped = list.pop()
    if (dropped === undefined) return void this.#free.delete(size)
    this.#bytes -= size
    free(dropped)
  }
}

/** Frees the memory of a buffer now, and not at the next collection of the whole heap. */
function free(buffer: Buffer): void {
  ;(buffer.buffer as ArrayBuffer).transfer(0)
}

function sizeOf(length: number): number {
  const step = Math.max(1, 2 ** Math.floor(Math.log2(length)) / STEPS)
  return Math.ceil(length / step) * step
}
