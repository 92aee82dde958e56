/** Maximum nesting in the JSON of a client. A request has at most six levels; a parser takes 0.5 µs for each. */
export const JSON_DEPTH_MAX = 64
/**
 * Maximum elements and members in the JSON of a client: 256 KiB hold 5,700 addresses. A parser takes up to 1.5 µs for each,
 * so a whole body is parsed in one turn of the event loop.
 */
export const JSON_VALUES_MAX = 10_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
/** `[` and `{`, and `]` and `}`, differ in this bit alone. */
const BRACE_BIT = 0x20
const OPEN = 0x5b
const CLOSE = 0x5d
/** Bytes of a string that are checked one by one. A native search pays off only for longer strings. */
const NEAR_BYTES = 24

/** The bound that JSON text exceeds. */
export type JsonExcess = 'levels' | 'values'

/** Checks JSON text in UTF-8 against bounds before parsing, piece by piece as it arrives. The text may be invalid JSON. */
export class JsonBounds {
  readonly #valuesMax: number
  #depth = 0
  #values = 0
  #isInString = false
  /** Whether the last byte was a backslash that escapes the next one. */
  #isEscaped = false

  constructor(valuesMax = JSON_VALUES_MAX) {
    this.#valuesMax = valuesMax
  }

  /** Reads the next bytes of the text, once each. Returns the first excess; null while the text is within its bounds. */
  take(bytes: Buffer): JsonExcess | null {
    for (let at = this.#isInString ? this.#endOfString(bytes, 0) : 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte === QUOTE) at = this.#endOfString(bytes, at + 1) - 1
      else if (byte === COMMA) {
        if (++this.#values > this.#valuesMax) return 'values'
      } else if (byte >= OPEN) {
        const kind = byte & ~BRACE_BIT
        if (kind === OPEN) {
          if (++this.#depth > JSON_DEPTH_MAX) return 'levels'
          if (++this.#values > this.#valuesMax) return 'values'
        } else if (kind === CLOSE) this.#depth--
      }
    }
    return null
  }

  /** Returns the index after the quote that ends the string; the length of the bytes if none does. */
  #endOfString(bytes: Buffer, from: number): number {
    this.#isInString = true
    let at = from
    if (this.#isEscaped && at < bytes.length) {
      at++
      this.#isEscaped = false
    }
    let quote = -1
    for (let near = at + NEAR_BYTES; at < bytes.length; at++) {
      // If no escape precedes the next quote, the string ends there.
      if (at === near) {
        if (quote < at) quote = endOr(bytes.length, bytes.indexOf(QUOTE, at))
        const escape = bytes.subarray(at, quote).indexOf(BACKSLASH)
        at = escape < 0 ? quote : at + escape
        if (at === bytes.length) return at
        near = at + NEAR_BYTES
      }
      const byte = bytes[at]
      if (byte === QUOTE) {
        this.#isInString = false
        return at + 1
      }
      if (byte === BACKSLASH && ++at === bytes.length) this.#isEscaped = true
    }
    return bytes.length
  }
}

const endOr = (length: number, found: number): number => (found < 0 ? length : found)

/** Tells whether JSON text has more levels than JSON_DEPTH_MAX. */
export function isTooDeep(bytes: Buffer): boolean {
  // Fewer bytes cannot open that many levels.
  return bytes.length > JSON_DEPTH_MAX && new JsonBounds(Infinity).take(bytes) === 'levels'
}

/** Returns the bound that JSON text exceeds; null if the text is within its bounds. */
export const jsonExcess = (bytes: Buffer): JsonExcess | null =>
  bytes.length > JSON_DEPTH_MAX ? new JsonBounds().take(bytes) : null

/** Describes an excess, after the name of the text. */
export const excessText = (excess: JsonExcess): string =>
  excess === 'levels'
    ? `nests objects and arrays deeper than ${JSON_DEPTH_MAX}`
    : `has more than ${JSON_VALUES_MAX} elements and members`
