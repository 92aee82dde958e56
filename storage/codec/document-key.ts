/** A value by which documents are ordered. Numbers are ordered as numbers, texts and bytes by their bytes. */
export type KeyPart = string | number | Uint8Array
/** Keys are ordered by their first parts, then by their second, and so on. A longer key follows its beginning. */
export type DocumentKey = readonly KeyPart[]

/** Bytes of an encoded key at most. Chosen: four times the longest one in use, a URL of 256 characters. */
export const KEY_BYTES_MAX = 1_024

const BYTES = 1
const TEXT = 2
const NUMBER = 3
/** Texts and bytes end with a zero; a zero in them is followed by this, which sorts above every beginning of a part. */
const ESCAPE = 0xff

/** Encodes a key so that its bytes sort as its parts do. Throws RangeError for a key that cannot be stored. */
export function encodeKey(key: DocumentKey): Buffer {
  const bytes = Buffer.concat(key.map(encodePart))
  if (bytes.length > KEY_BYTES_MAX)
    throw new RangeError(`a document's key has ${bytes.length} bytes, more than ${KEY_BYTES_MAX}`)
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

function encodePart(part: KeyPart): Buffer {
  if (typeof part === 'number') return encodeNumber(part)
  if (typeof part !== 'string') return terminated(BYTES, part)
  // Bytes of a lone surrogate would be those of another one.
  if (!part.isWellFormed()) throw new RangeError('a text in a document’s key is no well-formed Unicode')
  return terminated(TEXT, Buffer.from(part, 'utf8'))
}

function terminated(type: number, bytes: Uint8Array): Buffer {
  let zeros = 0
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) zeros++
  const out = Buffer.allocUnsafe(bytes.length + zeros + 2)
  out[0] = type
  out[out.length - 1] = 0
  if (zeros === 0) out.set(bytes, 1)
  else {
    let at = 1
    for (const byte of bytes) {
      out[at++] = byte
      if (byte === 0) out[at++] = ESCAPE
    }
  }
  return out
}

/** The bits of a double sort as its value once the sign is turned over, and of a negative one all bits. */
function encodeNumber(value: number): Buffer {
  if (!Number.isFinite(value)) throw new RangeError(`${value} in a document's key is no finite number`)
  const out = Buffer.allocUnsafe(9)
  out[0] = NUMBER
  // Minus zero is zero.
  out.writeDoubleBE(value + 0, 1)
  const isNegative = out[1]! >= 0x80
  for (let at = 1; at < 9; at++) out[at] = isNegative ? ~out[at]! : out[at]!
  if (!isNegative) out[1]! |= 0x80
  return out
}
