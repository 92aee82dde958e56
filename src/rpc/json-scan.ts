/** Finds values in JSON text without parsing it. Texts are UTF-8, in which all bytes of JSON's syntax are ASCII. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const SPACE = 0x20

/** Bytes of a string that are checked one by one. A native search pays only for longer strings. */
const NEAR_BYTES = 24

/** A member of an object: its decoded key, and the place of its value. */
export interface JsonMember {
  readonly key: string
  readonly from: number
  /** Index after the value. */
  readonly to: number
}

/** Returns the index of the first byte from `at` on that is not white space. */
export function skipSpace(bytes: Buffer, at: number): number {
  while (at < bytes.length && bytes[at]! <= SPACE) at++
  return at
}

/** Returns the index after the value that begins at `at`; -1 if it does not end. */
export function skipValue(bytes: Buffer, at: number): number {
  const first = bytes[at]
  if (first === QUOTE) return skipString(bytes, at)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipPrimitive(bytes, at)
  let depth = 0
  for (let i = at; i < bytes.length;) {
    const byte = bytes[i]!
    if (byte === QUOTE) {
      i = skipString(bytes, i)
      if (i < 0) return -1
      continue
    }
    i++
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return i
  }
  return -1
}

/**
 * Lists the members of the object that begins at `at`, in order; a repeated key is listed each time. Returns null if
 * the text is not an object or does not end.
 */
export function membersOf(bytes: Buffer, at: number): JsonMember[] | null {
  if (bytes[at] !== OPEN_BRACE) return null
  const members: JsonMember[] = []
  let i = skipSpace(bytes, at + 1)
  if (bytes[i] === CLOSE_BRACE) return members
  while (bytes[i] === QUOTE) {
    const keyEnd = skipString(bytes, i)
    if (keyEnd < 0) return null
    const colon = skipSpace(bytes, keyEnd)
    if (bytes[colon] !== COLON) return null
    const from = skipSpace(bytes, colon + 1)
    const to = skipValue(bytes, from)
    if (to < 0) return null
    members.push({ key: keyOf(bytes, i, keyEnd), from, to })
    i = skipSpace(bytes, to)
    if (bytes[i] === CLOSE_BRACE) return members
    if (bytes[i] !== COMMA) return null
    i = skipSpace(bytes, i + 1)
  }
  return null
}

/** Lists where the elements of the array at `at` begin; null if the text is no array, or does not end. */
export function elementsOf(bytes: Buffer, at: number): number[] | null {
  if (bytes[at] !== OPEN_BRACKET) return null
  const starts: number[] = []
  let i = skipSpace(bytes, at + 1)
  if (bytes[i] === CLOSE_BRACKET) return starts
  while (i < bytes.length) {
    starts.push(i)
    const end = skipValue(bytes, i)
    if (end < 0) return null
    i = skipSpace(bytes, end)
    if (bytes[i] === CLOSE_BRACKET) return starts
    if (bytes[i] !== COMMA) return null
    i = skipSpace(bytes, i + 1)
  }
  return null
}

function keyOf(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from + 1, to - 1)
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}

function skipString(bytes: Buffer, at: number): number {
  let i = at + 1
  for (const near = Math.min(bytes.length, i + NEAR_BYTES); i < near; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) return i + 1
    if (byte === BACKSLASH) i++
  }
  // A byte after a backslash at the border has been passed already.
  let from = i
  for (;;) {
    const quote = bytes.indexOf(QUOTE, from)
    if (quote < 0) return -1
    let escapes = 0
    while (quote - 1 - escapes >= i && bytes[quote - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return quote + 1
    from = quote + 1
  }
}

function skipPrimitive(bytes: Buffer, at: number): number {
  let i = at
  for (; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= SPACE) break
  }
  return i === at ? -1 : i
}
