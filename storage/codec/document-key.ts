/** A value by which documents are ordered. Numbers are ordered as numbers, texts and bytes by their bytes. */
export type KeyPart = string | number | Uint8Array
/** Keys are ordered by their first parts, then by their second, and so on. A longer key follows its beginning. */
export type DocumentKey = readonly KeyPart[]

/** Maximum bytes of an encoded key: four times the longest one in use, a URL of 256 characters. */
export const KEY_BYTES_MAX = 1_024

const BYTES = 1
const TEXT = 2
const NUMBER = 3
/** A number has its type and a double. */
const NUMBER_BYTES = 9
/**
 * Texts and bytes end with a zero. A zero in them is followed by this byte, which sorts above every first byte of a part.
 */
const ESCAPE = 0xff

/** Encodes a key so that its bytes sort as its parts do. Throws RangeError for a key that cannot be stored. */
export function encodeKey(key: DocumentKey): Buffer {
  let size = 0
  for (const part of key) size += sizeOf(part)
  if (size > KEY_BYTES_MAX)
    throw new RangeError(`a document's key has ${size} bytes, more than ${KEY_BYTES_MAX}`)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const part of key) at = writePart(bytes, at, part)
  return bytes
}

/** The first bytes that sort above everything that begins with a prefix. */
export function endOf(prefix: Uint8Array): Buffer {
  // No part begins with 0xff.
  return Buffer.concat([prefix, Buffer.of(ESCAPE)])
}

/** Decodes the text at the beginning of an encoded key, and says where the next part begins. Throws RangeError. */
export function decodeText(bytes: Uint8Array, at: number): { readonly text: string; readonly end: number } {
  if (bytes[at] !== TEXT) throw new RangeError('no text begins here')
  const text: number[] = []
  for (let i = at + 1; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === 0 && bytes[i + 1] !== ESCAPE) return { text: Buffer.from(text).toString('utf8'), end: i + 1 }
    text.push(byte)
    if (byte === 0) i++
  }
  throw new RangeError('a text has no end')
}

/** Returns where the part that begins at a place of an encoded key ends. Throws RangeError if no whole part is there. */
export function partEnd(bytes: Uint8Array, at: number): number {
  const type = bytes[at]
  if (type === NUMBER && at + NUMBER_BYTES <= bytes.length) return at + NUMBER_BYTES
  if (type === TEXT || type === BYTES)
    for (let i = at + 1; i < bytes.length; i++)
      if (bytes[i] === 0) {
        if (bytes[i + 1] !== ESCAPE) return i + 1
        i++
      }
  throw new RangeError('no whole part begins here')
}

/** Decodes the number that begins at a place of an encoded key; null if no whole number is there. */
export function decodeNumber(bytes: Uint8Array, at: number): number | null {
  if (bytes[at] !== NUMBER || at + NUMBER_BYTES > bytes.length) return null
  const double = Buffer.from(bytes.subarray(at + 1, at + NUMBER_BYTES))
  if (double[0]! >= 0x80) double[0]! &= 0x7f
  else for (let i = 0; i < double.length; i++) double[i] = ~double[i]!
  return double.readDoubleBE(0)
}

function sizeOf(part: KeyPart): number {
  if (typeof part === 'number') return NUMBER_BYTES
  if (typeof part !== 'string') return part.length + zerosIn(part) + 2
  // Bytes of a lone surrogate would equal those of another text.
  if (!part.isWellFormed()) throw new RangeError('a text in a document’s key is not well-formed Unicode')
  return Buffer.byteLength(part) + (part.includes('\0') ? zerosIn(Buffer.from(part)) : 0) + 2
}

/** Writes a part and returns where the next one begins. */
function writePart(out: Buffer, at: number, part: KeyPart): number {
  if (typeof part === 'number') return writeNumber(out, at, part)
  if (typeof part !== 'string') return writeBytes(out, at, BYTES, part)
  if (part.includes('\0')) return writeBytes(out, at, TEXT, Buffer.from(part))
  out[at] = TEXT
  const end = at + 1 + out.write(part, at + 1)
  out[end] = 0
  return end + 1
}

function writeBytes(out: Buffer, from: number, type: number, bytes: Uint8Array): number {
  let at = from
  out[at++] = type
  for (const byte of bytes) {
    out[at++] = byte
    if (byte === 0) out[at++] = ESCAPE
  }
  out[at++] = 0
  return at
}

function zerosIn(bytes: Uint8Array): number {
  let zeros = 0
  for (const byte of bytes) if (byte === 0) zeros++
  return zeros
}

/** The bits of a double sort as its value once the sign is turned over, and of a negative one all bits. */
function writeNumber(out: Buffer, from: number, value: number): number {
  if (!Number.isFinite(value)) throw new RangeError(`${value} in a document's key is not a finite number`)
  out[from] = NUMBER
  // Minus zero is zero.
  const end = out.writeDoubleBE(value + 0, from + 1)
  const isNegative = out[from + 1]! >= 0x80
  if (isNegative) for (let at = from + 1; at < end; at++) out[at] = ~out[at]!
  else out[from + 1]! |= 0x80
  return end
}
