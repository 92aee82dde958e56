import { isWholeWord } from './name-text.ts'

const FIRST_LENGTH = 2
const GROWTH = 1.5
/** Estimated bytes of a new list, for its key, object and array. */
const LIST_BYTES = 250
/** Estimated bytes of a number in a list, which is two thirds full on average. */
const NUMBER_BYTES = 6

interface NumberList {
  numbers: Uint32Array
  length: number
}

const NONE = new Uint32Array(0)

/**
 * Numbers of texts by the pairs of adjacent UTF-16 units in them, and by single characters that are a word. A text that
 * contains another is in every list of the other's pairs, so the shortest of these lists has all that contain it, and
 * some that do not.
 */
export class GramIndex {
  readonly #lists = new Map<string, NumberList>()

  /** Number of lists. */
  get size(): number {
    return this.#lists.size
  }

  /** Adds a number to the lists of its texts. Returns an estimate of the bytes that it takes. */
  add(number: number, texts: readonly string[]): number {
    let bytes = 0
    for (const gram of gramsOf(texts)) {
      let list = this.#lists.get(gram)
      if (list === undefined) {
        list = { numbers: new Uint32Array(FIRST_LENGTH), length: 0 }
        this.#lists.set(gram, list)
        bytes += LIST_BYTES
      }
      if (list.length === list.numbers.length) resize(list, Math.ceil(list.length * GROWTH))
      list.numbers[list.length++] = number
      bytes += NUMBER_BYTES
    }
    return bytes
  }

  /** Removes a number from the lists of the texts that it was added with. */
  remove(number: number, texts: readonly string[]): void {
    for (const gram of gramsOf(texts)) {
      const list = this.#lists.get(gram)
      const place = list?.numbers.subarray(0, list.length).indexOf(number) ?? -1
      if (list === undefined || place === -1) continue
      list.numbers[place] = list.numbers[--list.length]!
      if (list.length === 0) this.#lists.delete(gram)
      else if (list.length < list.numbers.length / (2 * GROWTH)) resize(list, list.length)
    }
  }

  /** Returns the numbers of all texts that may contain a text, in no order. It is valid until the next change. */
  candidates(text: string): Uint32Array {
    let best: NumberList | null = null
    for (const gram of gramsOf([text])) {
      const list = this.#lists.get(gram)
      if (list === undefined) return NONE
      if (best === null || list.length < best.length) best = list
    }
    return best === null ? NONE : best.numbers.subarray(0, best.length)
  }
}

/** Returns the pairs of texts and their single characters that are words, each once. */
function gramsOf(texts: readonly string[]): Set<string> {
  const grams = new Set<string>()
  for (const text of texts)
    for (let at = 0; at < text.length; at++) {
      if (at + 1 < text.length) grams.add(text.slice(at, at + 2))
      if (isWholeWord(text[at]!)) grams.add(text[at]!)
    }
  return grams
}

function resize(list: NumberList, length: number): void {
  const numbers = new Uint32Array(Math.max(length, FIRST_LENGTH))
  numbers.set(list.numbers.subarray(0, list.length))
  list.numbers = numbers
}
