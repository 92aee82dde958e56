import { createHash } from 'node:crypto'
import type { SeededRandom } from './venue.ts'

/** Returns a stream of numbers determined by a text. Uses sfc32: fast, passes the usual test batteries, not secure. */
export function seededRandom(text: string): SeededRandom {
  const seed = new DataView(Uint8Array.from(createHash('sha256').update(text).digest()).buffer)
  let a = seed.getUint32(0, true)
  let b = seed.getUint32(4, true)
  let c = seed.getUint32(8, true)
  let counter = seed.getUint32(12, true)
  const word = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return sum >>> 0
  }
  for (let i = 0; i < 12; i++) word()
  return {
    next: () => (word() * 2 ** 21 + (word() >>> 11)) / 2 ** 53,
    bytes(length) {
      const bytes = new Uint8Array(length)
      for (let at = 0; at < length; at++) bytes[at] = word() & 255
      return bytes
    }
  }
}
