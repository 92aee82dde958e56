/** Ends the reading of one message, naming what is not as the protocol has it. Callers of a reader get an outcome. */
export class MessageFault extends Error {
  readonly field: string

  constructor(field: string) {
    super(`not readable: ${field}`)
    this.field = field
  }
}

/** Tag of a field: its number and how it is written. */
export const varintField = (number: number): number => number << 3
export const bytesField = (number: number): number => (number << 3) | 2

/**
 * Reads protobuf's wire form in place: nothing is copied and nothing is made of fields that nobody asks for, which are
 * skipped by their length. A message is read as `while (from.at < end)` over its tags, with its own end, so that no
 * field reaches out of its message.
 */
export class ProtobufReader {
  readonly bytes: Uint8Array
  at = 0
  readonly #text: Buffer

  constructor(bytes: Uint8Array) {
    // Parts of a Buffer are Buffers, which take longer to make than plain views.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** The next field's tag, before `end`. */
  tag(end: number): number {
    return this.count(end, 'field')
  }

  /** The end of the bytes, text or message that starts here. */
  span(end: number, field: string): number {
    const size = this.count(end, field)
    const stop = this.at + size
    if (stop > end) throw new MessageFault(field)
    return stop
  }

  /** Skips bytes of a known size and gives where they start. */
  fixedBytes(end: number, size: number, field: string): number {
    const stop = this.span(end, field)
    const start = this.at
    if (stop - start !== size) throw new MessageFault(field)
    this.at = stop
    return start
  }

  /** A number that a double holds exactly. */
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

  /** A number from 0 to a limit; the fault of another one names it. */
  bounded(end: number, max: number, field: string): number {
    const value = this.#varint(end, field)
    if (value <= max) return Number(value)
    throw new MessageFault(`${field} ${value} is above ${max}`)
  }

  /** A number as a double, rounded where it has none of its own, as JSON.parse rounds. */
  rounded(end: number, field: string): number {
    return Number(this.#varint(end, field))
  }

  /** A 64-bit number without sign. */
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

  /** A view of bytes that are already known to be there. */
  view(start: number, end: number): Uint8Array {
    return this.bytes.subarray(start, end)
  }

  copy(start: number, end: number): Uint8Array {
    return this.bytes.slice(start, end)
  }

  /** UTF-8; bytes that are none become replacement characters. */
  text(start: number, end: number): string {
    return this.#text.toString('utf8', start, end)
  }

  /** Ten bytes at most, of seven bits each: a number, or a big integer where a double is not exact. */
  #varint(end: number, field: string): number | bigint {
    const { bytes } = this
    let value = 0
    let factor = 1
    for (let place = 0; place < 10; place++) {
      if (this.at >= end) throw new MessageFault(field)
      const byte = bytes[this.at++]!
      // Seven bytes are 49 bits; from there on the sum may not be exact any more.
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
