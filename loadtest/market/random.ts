const FRACTION = 2 ** -32

/** Reproducible random numbers: sfc32, seeded by any number of integers. Equal seeds give equal sequences everywhere. */
export class SeededRandom {
  #a = 0x9e3779b9
  #b: number
  #c: number
  #counter = 1
  #spareNormal: number | null = null

  constructor(...seeds: readonly number[]) {
    this.#b = 0x243f6a88
    this.#c = 0xb7e15162
    for (const seed of seeds) {
      this.#a ^= seed | 0
      this.#b ^= Math.floor(seed / 2 ** 32) | 0
      for (let i = 0; i < 12; i++) this.uint32()
    }
  }

  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** Returns a number in [0, 1). */
  unit(): number {
    return this.uint32() * FRACTION
  }

  /** Returns an integer in [0, below). */
  below(below: number): number {
    return Math.floor(this.unit() * below)
  }

  chance(probability: number): boolean {
    return this.unit() < probability
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  /** Returns an exponentially distributed number with mean 1. */
  exponential(): number {
    return -Math.log(1 - this.unit())
  }

  /** Returns a normally distributed number with mean 0 and deviation 1. */
  normal(): number {
    const spare = this.#spareNormal
    if (spare !== null) {
      this.#spareNormal = null
      return spare
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()))
    const angle = 2 * Math.PI * this.unit()
    this.#spareNormal = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }

  /** Returns random bytes; `length` must be a multiple of 4. */
  bytes(length: number): Uint8Array {
    const words = new Uint32Array(length / 4)
    for (let i = 0; i < words.length; i++) words[i] = this.uint32()
    return new Uint8Array(words.buffer)
  }

  shuffle(values: Int32Array): void {
    for (let i = values.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const held = values[i]!
      values[i] = values[j]!
      values[j] = held
    }
  }
}

/** Draws indexes in proportion to weights, each in constant time (Vose's alias method). */
export class WeightedChoice {
  readonly #keep: Float64Array
  readonly #alias: Int32Array

  constructor(weights: ArrayLike<number>) {
    const count = weights.length
    let sum = 0
    for (let i = 0; i < count; i++) sum += weights[i]!
    this.#keep = Float64Array.from({ length: count }, (_, i) => (weights[i]! * count) / sum)
    this.#alias = Int32Array.from({ length: count }, (_, i) => i)
    const small: number[] = []
    const large: number[] = []
    for (let i = 0; i < count; i++) (this.#keep[i]! < 1 ? small : large).push(i)
    while (small.length > 0 && large.length > 0) {
      const less = small.pop()!
      const more = large.at(-1)!
      this.#alias[less] = more
      this.#keep[more]! -= 1 - this.#keep[less]!
      if (this.#keep[more]! < 1) small.push(large.pop()!)
    }
  }

  draw(random: SeededRandom): number {
    const index = random.below(this.#keep.length)
    return random.unit() < this.#keep[index]! ? index : this.#alias[index]!
  }
}
