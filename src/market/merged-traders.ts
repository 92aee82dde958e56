import {
  addTraders,
  ENTRY,
  hashAt,
  isExact,
  LIST,
  PRECISIONS,
  SLIDING,
  type TraderSketch
} from './traders.ts'

/**
 * Merges the traders of one hour from two stores. The bytes equal those of one sketch to which all of them were added
 * (`traders.ts`, D3). Sketches for all time are not merged.
 */
export function mergeTraders(a: TraderSketch, b: TraderSketch): TraderSketch {
  if (a.length === 0) return b
  if (b.length === 0) return a
  if (isExact(b)) return addListed(a, b)
  if (isExact(a)) return addListed(b, a)
  if (a[0] !== SLIDING || b[0] !== SLIDING) throw new RangeError('traders of all time have no minutes')
  return mergeRegisters(a, b)
}

function addListed(sketch: TraderSketch, list: TraderSketch): TraderSketch {
  if (list[0] !== LIST) throw new RangeError('not a list of traders')
  const byMinute = new Map<number, number[]>()
  for (let at = 1; at < list.length; at += ENTRY) {
    const hashes = byMinute.get(list[at + 6]!)
    if (hashes === undefined) byMinute.set(list[at + 6]!, [hashAt(list, at)])
    else hashes.push(hashAt(list, at))
  }
  let merged = sketch
  for (const [minute, hashes] of byMinute) merged = addTraders(merged, hashes, minute)
  return merged
}

function mergeRegisters(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes[0] = SLIDING
  let [to, atA, atB] = [1, 1, 1]
  for (let register = 0; register < 2 ** PRECISIONS[SLIDING]; register++) {
    const endA = atA + 1 + 2 * a[atA]!
    const endB = atB + 1 + 2 * b[atB]!
    const pairs = highestPairs(a.subarray(atA + 1, endA), b.subarray(atB + 1, endB))
    bytes[to++] = pairs.length / 2
    bytes.set(pairs, to)
    to += pairs.length
    atA = endA
    atB = endB
  }
  return bytes.slice(0, to)
}

/** Returns the (minute, rank) pairs of two registers that are the highest rank from their minute on, minutes ascending. */
function highestPairs(a: Uint8Array, b: Uint8Array): Uint8Array | number[] {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const pairs: number[] = []
  let [left, right] = [a.length - 2, b.length - 2]
  let highest = 0
  while (left >= 0 || right >= 0) {
    const isLeft = right < 0 || (left >= 0 && isAfter(a, left, b, right))
    const [from, at] = isLeft ? [a, left] : [b, right]
    if (isLeft) left -= 2
    else right -= 2
    if (from[at + 1]! <= highest) continue
    highest = from[at + 1]!
    pairs.unshift(from[at]!, highest)
  }
  return pairs
}

/** Returns whether a pair has the later minute, or the higher rank in the same minute. */
function isAfter(a: Uint8Array, atA: number, b: Uint8Array, atB: number): boolean {
  return a[atA]! === b[atB]! ? a[atA + 1]! > b[atB + 1]! : a[atA]! > b[atB]!
}
