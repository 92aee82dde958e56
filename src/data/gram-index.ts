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
 * Maximum entries of a further list that are scanned for each candidate. Comparing a candidate's names takes a
 * hundred times as long as scanning an entry, and a further list excludes about half of the candidates.
 */
const SCANNED_MAX = 50

/**
 * An inverted index from bigrams (pairs of adjacent UTF-16 units), and from single characters that are words, to
 * numbers of texts. A text that contains a search text is in every list of the latter's bigrams. The intersection of
 * these lists may also contain other texts.
 */
export class GramIndex {
  readonly #lists = new Map<string, NumberList>()
  /** By number; 1 while two lists are intersected. */
  #marks = new Uint8Array(0)
  #numberMax = 0

  /** Number of lists. */
  get size(): number {
    return this.#lists.size
  }

  /** Adds a number to the lists of its texts. Returns the estimated bytes of the entries. */
  add(number: number, texts: readonly string[]): number {
    let bytes = 0
    this.#numberMax = Math.max(this.#numberMax, number)
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

  /**
   * Returns the numbers of all texts that may contain the given text, unordered. The result is valid until the next
   * change.
   */
  candidates(text: string): Uint32Array {
    const lists: NumberList[] = []
    for (const gram of gramsOf([text])) {
      const list = this.#lists.get(gram)
      if (list === undefined) return NONE
      lists.push(list)
    }
    const [shortest, ...others] = lists.sort((a, b) => a.length - b.length)
    if (shortest === undefined) return NONE
    let found = shortest.numbers.subarray(0, shortest.length)
    for (const list of others) {
      if (list.length > found.length * SCANNED_MAX) break
      found = this.#inBoth(found, list)
    }
    return found
  }

  #inBoth(numbers: Uint32Array, { numbers: others, length }: NumberList): Uint32Array {
    if (this.#marks.length <= this.#numberMax)
      this.#marks = new Uint8Array(Math.ceil(this.#numberMax * GROWTH) + 1)
    const marks = this.#marks
    const both = new Uint32Array(Math.min(numbers.length, length))
    let count = 0
    for (const number of numbers) marks[number] = 1
    for (let i = 0; i < length; i++) if (marks[others[i]!] === 1) both[count++] = others[i]!
    for (const number of numbers) marks[number] = 0
    return both.subarray(0, count)
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
