import { FileReader } from './file-reader.ts'

/** Kinds of elements, in the lowest two bits of their first byte. */
const LITERAL = 0
const NEAR_COPY = 1
const COPY = 2
/** Lengths of literals from here on follow in one to four bytes. */
const SHORT_LITERAL_MAX = 60

/**
 * Decompresses a block of the engine: the raw format of Snappy, without a frame. Throws a RangeError if the bytes do not
 * follow the format, or have more than `bytesMax` decompressed.
 */
export function snappyDecompressed(stored: Buffer, bytesMax: number): Buffer {
  const source = new FileReader(stored)
  const length = source.count()
  if (length > bytesMax) throw new RangeError(`a block has ${length} bytes; the limit is ${bytesMax}`)
  const contents = Buffer.alloc(length)
  let to = 0
  while (!source.atEnd) {
    const tag = source.bytes(1)[0]!
    const kind = tag & 3
    if (kind === LITERAL) {
      const short = tag >> 2
      const size = short < SHORT_LITERAL_MAX ? short : numberIn(source.bytes(short - SHORT_LITERAL_MAX + 1))
      const literal = source.bytes(size + 1)
      if (to + literal.length > length) throw new RangeError('a block has more bytes than it states')
      literal.copy(contents, to)
      to += literal.length
      continue
    }
    const isNear = kind === NEAR_COPY
    const size = isNear ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    const distance = isNear
      ? ((tag >> 5) << 8) | source.bytes(1)[0]!
      : numberIn(source.bytes(kind === COPY ? 2 : 4))
    if (distance === 0 || distance > to || to + size > length)
      throw new RangeError('a block repeats bytes that it does not have')
    // Byte by byte: a copy may reach into the bytes that it writes.
    for (const end = to + size; to < end; to++) contents[to] = contents[to - distance]!
  }
  if (to !== length) throw new RangeError('a block has fewer bytes than it states')
  return contents
}

/** A number of one to four bytes, the lowest first. */
const numberIn = (bytes: Buffer): number => bytes.readUIntLE(0, bytes.length)
