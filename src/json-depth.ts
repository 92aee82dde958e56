/** Levels of objects and arrays in the JSON of a client. A request has at most six; a parser takes 0.5 µs for a level. */
export const JSON_DEPTH_MAX = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** `[` and `{`, and `]` and `}`, differ in this bit alone. */
const BRACE_BIT = 0x20
const OPEN = 0x5b
const CLOSE = 0x5d

/**
 * Tells whether JSON text in UTF-8 has more levels than JSON_DEPTH_MAX, before it is parsed. Reads each byte once, and also
 * text that is not valid JSON.
 */
export function isTooDeep(bytes: Uint8Array): boolean {
  // Fewer bytes cannot open that many levels.
  if (bytes.length <= JSON_DEPTH_MAX) return false
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte >= OPEN) {
      const kind = byte & ~BRACE_BIT
      if (kind === OPEN && ++depth > JSON_DEPTH_MAX) return true
      if (kind === CLOSE) depth--
    }
  }
  return false
}

/** Returns the index of the quote that ends the string; the length of the text if none does. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at++
  }
  return bytes.length
}
