const U64_MAX = 2n ** 64n - 1n

/** A repeatable source of choices. */
export class Choices {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a fraction from 0 up to, but without, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(end: number): number {
    return Math.floor(this.fraction() * end)
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** Amounts of every size, the greatest among them. */
  amount(): bigint {
    if (this.chance(0.05)) return this.of([0n, U64_MAX, 2n ** 53n, 2n ** 49n, 2n ** 53n - 1n])
    return BigInt(Math.floor(2 ** (this.fraction() * 53)))
  }
}

export function sampleBytes(length: number, seed: number): Uint8Array {
  const choices = new Choices(seed)
  return Uint8Array.from({ length }, () => choices.below(256))
}
