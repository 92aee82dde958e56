/** Bytes of answers if nothing is configured, as in a command: more than the largest answer that a client reads. */
const DEFAULT_BYTES_MAX = 512 * 2 ** 20

/** Thrown in the reader of an answer that was refused because all answers together take too much memory. */
export class AnswersTooLarge extends Error {
  override readonly name = 'AnswersTooLarge'
  readonly bytesMax: number

  constructor(bytesMax: number) {
    super(`the answers of all nodes have more than ${bytesMax} bytes in memory, and this one has the most`)
    this.bytesMax = bytesMax
  }
}

/** The bytes that one answer has in memory. Close it when they are no longer held; further calls have no effect. */
export class AnswerBytes {
  readonly #memory: AnswerMemory
  readonly #refuse: (error: AnswersTooLarge) => void
  bytes = 0

  constructor(memory: AnswerMemory, refuse: (error: AnswersTooLarge) => void) {
    this.#memory = memory
    this.#refuse = refuse
  }

  /** Adds bytes that have arrived; a negative number for bytes that were passed on. */
  add(bytes: number): void {
    this.#memory.add(this, bytes)
  }

  close(): void {
    this.#memory.close(this)
  }

  /** Called by the memory alone. */
  refuse(error: AnswersTooLarge): void {
    this.#refuse(error)
  }
}

/**
 * Unpacked bytes of the answers of all nodes that are in memory while they arrive. A small gzip answer can unpack to
 * gigabytes, and several at once would exceed the limit of any single answer. Beyond the limit the answer with the
 * most bytes is refused, so that the others, such as blocks, still arrive.
 */
export class AnswerMemory {
  #bytesMax: number
  #bytes = 0
  readonly #open = new Set<AnswerBytes>()
  /** Answers that were refused. */
  refused = 0

  constructor(bytesMax = DEFAULT_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  get bytesMax(): number {
    return this.#bytesMax
  }

  /** Sets the limit. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax
  }

  /** Begins to count an answer. `refuse` must end its reader; the answer's bytes no longer count when it is called. */
  open(refuse: (error: AnswersTooLarge) => void): AnswerBytes {
    const answer = new AnswerBytes(this, refuse)
    this.#open.add(answer)
    return answer
  }

  add(answer: AnswerBytes, bytes: number): void {
    if (!this.#open.has(answer)) return
    answer.bytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#bytesMax) {
      let largest = answer
      for (const each of this.#open) if (each.bytes > largest.bytes) largest = each
      this.close(largest)
      this.refused++
      largest.refuse(new AnswersTooLarge(this.#bytesMax))
    }
  }

  close(answer: AnswerBytes): void {
    if (this.#open.delete(answer)) this.#bytes -= answer.bytes
  }
}

/** The answers of all nodes of this process. */
export const answerMemory = new AnswerMemory()
