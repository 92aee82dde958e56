/**
 * Ends the reading of one message and names the field that violates the protocol. Readers catch it and return an
 * outcome.
 */
export class MessageFault extends Error {
  readonly field: string

  constructor(field: string) {
    super(`not readable: ${field}`)
    this.field = field
  }
}

/** Returns the tag of a field: its number and its wire type. */
export const varintField = (number: number): number => number << 3
export const bytesField = (number: number): number => (number << 3) | 2

/**
 * Reads protobuf's wire format in place: nothing is copied, and unused fields are skipped by their length. A message is
 * read by looping over its tags with `while (from.at < end)`. Each message has its own end, so that no field reaches
 * beyond it.
 */
export class ProtobufReader {
  readonly bytes: Uint8Array
  at = 0
  readonly #text: Buffer

  constructor(bytes: Uint8Array) {
    // Slices of a Buffer are Buffers, which take longer to create than plain views.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Reads the next field's tag, before `end`. */
  tag(end: number): number {
    return this.count(end, 'field')
  }

  /** Returns the end of the bytes, text or message that starts here. */
  span(end: number, field: string): number {
    const size = this.count(end, field)
    const stop = this.at + size
    if (stop > end) throw new MessageFault(field)
    return stop
  }

  /** Skips bytes of a known size and returns their offset. */
  fixedBytes(end: number, size: number, field: string): number {
    const stop = this.span(end, field)
    const start = this.at
    if (stop - start !== size) throw new MessageFault(field)
    this.at = stop
    return start
  }

  /** Reads a number that a double holds exactly. */
  count(end: number, field: string): number {
    const { bytes } = this
    const first = this.at < end ? bytes[this.at++]! : -1
    if (first < 0) throw new MessageFault(field)
    if (first < 0x80) return first
    this.at--
    const number = this.#varint(end, field)
    if (typeof number === 'bigint') throw new MessageFault(field)
    return number
  }

  /** Reads a number from 0 to a limit; the fault of a larger number names it. */
  bounded(end: number, max: number, field: string): number {
    const value = this.#varint(end, field)
    if (value <= max) return Number(value)
    throw new MessageFault(`${field} ${value} is above ${max}`)
  }

  /** Reads a number as a double, rounded like JSON.parse does. */
  rounded(end: number, field: string): number {
    return Number(this.#varint(end, field))
  }

  /** Reads an unsigned 64-bit number. */
  u64(end: number, field: string): bigint {
    return BigInt(this.#varint(end, field))
  }

  flag(end: number, field: string): boolean {
    return this.#varint(end, field) !== 0
  }

  skip(tag: number, end: number): void {
    if (tag < 8) throw new MessageFault('field number')
    switch (tag & 7) {
      case 0:
        this.#varint(end, 'number')
        return
      case 1:
        this.at += 8
        break
      case 2:
        this.at = this.span(end, 'length')
        return
      case 5:
        this.at += 4
        break
      default:
        throw new MessageFault('field type')
    }
    if (this.at > end) throw new MessageFault('length')
  }

  /** Returns a view of bytes already known to exist. */
  view(start: number, end: number): Uint8Array {
    return this.bytes.subarray(start, end)
  }

  copy(start: number, end: number): Uint8Array {
    return this.bytes.slice(start, end)
  }

  /** Decodes UTF-8; invalid bytes become replacement characters. */
  text(start: number, end: number): string {
    return this.#text.toString('utf8', start, end)
  }

  /** Reads at most ten bytes of seven bits each: a number, or a big integer if a double would not be exact. */
  #varint(end: number, field: string): number | bigint {
    const { bytes } = this
    let value = 0
    let factor = 1
    for (let place = 0; place < 10; place++) {
      if (this.at >= end) throw new MessageFault(field)
      const byte = bytes[this.at++]!
      // Seven bytes have 49 bits; with more the sum may be inexact.
      if (place >= 7) return this.#longVarint(value, place, byte, end, field)
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 128
    }
    throw new MessageFault(field)
  }

  #longVarint(low: number, from: number, first: number, end: number, field: string): number | bigint {
    let value = BigInt(low)
    let byte = first
    for (let place = from; place < 10; place++) {
      value |= BigInt(byte & 0x7f) << BigInt(7 * place)
      if (byte < 0x80) {
        if (value >= 1n << 64n) throw new MessageFault(field)
        return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
      }
      if (this.at >= end) throw new MessageFault(field)
      byte = this.bytes[this.at++]!
    }
    throw new MessageFault(field)
  }
}
