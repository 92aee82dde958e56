import type { ByteReader } from '../../storage/codec/byte-reader.ts'
import type { ByteWriter } from '../../storage/codec/byte-writer.ts'
import { WSOL } from '../market/cash.ts'
import type { Sums } from './ledger-document.ts'
import { NO_SUMS, type MintSums } from './sums.ts'

/**
 * An amount is three digits to the base 2^32, the lowest first. Two million amounts below 2^96 are added exactly, each digit
 * by itself: a tenth of the time that big integers take.
 */
const BASE = 2 ** 32
const DIGITS = 3
/** Numbers of a mint: three counts, then the digits of four amounts. */
const COUNTS = 3
const AMOUNTS = 4
const NUMBERS = COUNTS + AMOUNTS * DIGITS

/** Sums of the entries of some slots, by mint. */
export interface SumRow {
  /** Block time of the newest entry, unix seconds. */
  readonly lastAt: number
  /** Base58. */
  readonly mints: readonly string[]
  /** Decimals of each mint. */
  readonly decimals: readonly number[]
  /** NUMBERS of each mint. A list takes less than a typed array, which has memory of its own. */
  readonly numbers: readonly number[]
}

/** Estimated bytes of a row in memory: its mints are mostly those of other rows. */
export const weightOf = ({ mints }: SumRow): number => 160 + mints.length * (NUMBERS * 8 + 24)

/** Adds up rows that are given in the order of their slots. */
export class MintTotals {
  readonly #places = new Map<string, number>()
  readonly #decimals: number[] = []
  readonly #numbers: number[] = []
  #lastAt: number | null = null

  /** Block time of the newest entry, unix seconds; null if there is no entry. */
  get lastAt(): number | null {
    return this.#lastAt
  }

  add({ lastAt, mints, decimals, numbers }: SumRow): void {
    this.#lastAt = lastAt
    for (let from = 0; from < mints.length; from++) {
      const place = this.#placeOf(mints[from]!)
      this.#decimals[place] = decimals[from]!
      const at = place * NUMBERS
      const own = from * NUMBERS
      for (let i = 0; i < NUMBERS; i++) this.#numbers[at + i]! += numbers[own + i]!
    }
  }

  /** Returns the sums as one row; null if there is no entry. */
  row(): SumRow | null {
    if (this.#lastAt === null) return null
    const mints = [...this.#places.keys()]
    const numbers = this.#numbers.slice()
    for (let at = COUNTS; at < numbers.length; at += NUMBERS)
      for (let digit = at; digit < at + AMOUNTS * DIGITS; digit++) {
        if ((digit - at) % DIGITS === DIGITS - 1) continue
        const carry = Math.floor(numbers[digit]! / BASE)
        numbers[digit]! -= carry * BASE
        numbers[digit + 1]! += carry
      }
    return { lastAt: this.#lastAt, mints, decimals: [...this.#decimals], numbers }
  }

  /** Returns the sums of each mint. */
  sums(): readonly MintSums[] {
    return Array.from(this.#places, ([mint, place]) => ({
      mint,
      decimals: this.#decimals[place]!,
      sums: sumsAt(this.#numbers, place * NUMBERS)
    }))
  }

  #placeOf(mint: string): number {
    const known = this.#places.get(mint)
    if (known !== undefined) return known
    const place = this.#places.size
    this.#places.set(mint, place)
    for (let i = 0; i < NUMBERS; i++) this.#numbers.push(0)
    return place
  }
}

/** Returns the row of the sums of a block's mints. */
export function rowOf(sums: readonly MintSums[], lastAt: number): SumRow {
  const numbers = new Array<number>(sums.length * NUMBERS).fill(0)
  let at = 0
  for (const { sums: own } of sums) {
    numbers[at] = own.entries
    numbers[at + 1] = own.counted
    numbers[at + 2] = own.unpriced
    const first = at + COUNTS
    setAmount(numbers, first, own.inflow)
    setAmount(numbers, first + DIGITS, own.outflow)
    setAmount(numbers, first + 2 * DIGITS, own.inflowMicroUsd)
    setAmount(numbers, first + 3 * DIGITS, own.outflowMicroUsd)
    at += NUMBERS
  }
  return {
    lastAt,
    mints: sums.map(({ mint }) => mint),
    decimals: sums.map(({ decimals }) => decimals),
    numbers
  }
}

/** Sums up all mints: amounts are those of SOL and wrapped SOL. */
export function sumsOfAll(mints: readonly MintSums[]): Sums {
  const all = { ...NO_SUMS }
  for (const { mint, sums } of mints) {
    all.entries += sums.entries
    all.counted += sums.counted
    all.unpriced += sums.unpriced
    all.inflowMicroUsd += sums.inflowMicroUsd
    all.outflowMicroUsd += sums.outflowMicroUsd
    if (mint === WSOL) [all.inflow, all.outflow] = [sums.inflow, sums.outflow]
  }
  return all
}

/** Writes a row. Most mints are wrapped SOL, which no text stands for. */
export function writeSums(out: ByteWriter, { lastAt, mints, decimals, numbers }: SumRow): void {
  out.offset(lastAt)
  out.count(mints.length)
  for (const [place, mint] of mints.entries()) {
    out.text(mint === WSOL ? '' : mint)
    out.count(decimals[place]!)
    const at = place * NUMBERS
    for (let count = at; count < at + COUNTS; count++) out.count(numbers[count]!)
    for (let index = 0; index < AMOUNTS; index++) writeAmount(out, numbers, at + COUNTS + index * DIGITS)
  }
}

/** Reads what `writeSums` has written. */
export function readSums(source: ByteReader): SumRow {
  const lastAt = source.offset()
  const count = source.count()
  const mints: string[] = []
  const decimals: number[] = []
  const numbers = new Array<number>(count * NUMBERS).fill(0)
  for (let place = 0; place < count; place++) {
    mints.push(source.text() || WSOL)
    decimals.push(source.count())
    const at = place * NUMBERS
    for (let i = at; i < at + COUNTS; i++) numbers[i] = source.count()
    for (let index = 0; index < AMOUNTS; index++)
      setAmount(numbers, at + COUNTS + index * DIGITS, source.amount())
  }
  return { lastAt, mints, decimals, numbers }
}

function sumsAt(numbers: readonly number[], at: number): Sums {
  const amount = (index: number): bigint => amountAt(numbers, at + COUNTS + index * DIGITS)
  return {
    entries: numbers[at]!,
    inflow: amount(0),
    outflow: amount(1),
    inflowMicroUsd: amount(2),
    outflowMicroUsd: amount(3),
    counted: numbers[at + 1]!,
    unpriced: numbers[at + 2]!
  }
}

const amountAt = (numbers: readonly number[], at: number): bigint =>
  (BigInt(numbers[at + 2]!) << 64n) + (BigInt(numbers[at + 1]!) << 32n) + BigInt(numbers[at]!)

function setAmount(numbers: number[], at: number, amount: bigint): void {
  if (amount === 0n) return
  const number = Number(amount)
  if (number <= Number.MAX_SAFE_INTEGER) {
    numbers[at] = number % BASE
    numbers[at + 1] = Math.floor(number / BASE)
    return
  }
  numbers[at] = Number(amount & 0xffff_ffffn)
  numbers[at + 1] = Number((amount >> 32n) & 0xffff_ffffn)
  numbers[at + 2] = Number(amount >> 64n)
}

/** Writes an amount, most of which are safe integers. */
function writeAmount(out: ByteWriter, numbers: readonly number[], at: number): void {
  const number = numbers[at + 1]! * BASE + numbers[at]!
  if (numbers[at + 2] === 0 && number <= Number.MAX_SAFE_INTEGER) out.count(number)
  else out.amount(amountAt(numbers, at))
}
