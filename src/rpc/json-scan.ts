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

/** Number of bytes of a string that are checked one by one. A native search pays only for longer strings. */
const NEAR_BYTES = 24

/** Maximum bytes of long values that a scan passes before it yields: 1 ms. */
const SCAN_BYTES = 512 * 1024

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
  const nested = { at, depth: 0 }
  skipNested(bytes, nested, bytes.length)
  return nested.at
}

/** A position in an object or array whose end is searched; -1 if it turns out not to end. */
interface Nested {
  at: number
  depth: number
}

/** Searches the end of an object or array, in the bytes before `until`. Returns whether it is known. */
function skipNested(bytes: Buffer, nested: Nested, until: number): boolean {
  let { at, depth } = nested
  const end = Math.min(until, bytes.length)
  while (at < end) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at = skipString(bytes, at)
      if (at < 0) break
      continue
    }
    at++
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) {
      nested.at = at
      return true
    }
  }
  const isCutOff = at < 0 || at >= bytes.length
  nested.at = isCutOff ? -1 : at
  nested.depth = depth
  return isCutOff
}

/**
 * Calls `found` with the members of each object of the array that begins at `at`. Yields after each SCAN_BYTES. Returns
 * false if the text is not an array, or does not end.
 */
export function* scanObjects(
  bytes: Buffer,
  at: number,
  found: (members: readonly JsonMember[]) => void
): Generator<void, boolean, void> {
  if (bytes[at] !== OPEN_BRACKET) return false
  let until = at + SCAN_BYTES
  function* endOf(from: number): Generator<void, number, void> {
    const first = bytes[from]
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipValue(bytes, from)
    const nested = { at: from, depth: 0 }
    while (!skipNested(bytes, nested, until)) {
      yield
      until = nested.at + SCAN_BYTES
    }
    return nested.at
  }
  /** Reads the object at a place. Returns the index after it; -1 if it does not end. */
  function* objectAt(from: number): Generator<void, number, void> {
    const members: JsonMember[] = []
    for (let i = skipSpace(bytes, from + 1); bytes[i] !== CLOSE_BRACE;) {
      const member = memberAt(bytes, i)
      if (member === null) return -1
      member.to = yield* endOf(member.from)
      if (member.to < 0) return -1
      members.push(member)
      i = skipSpace(bytes, member.to)
      if (bytes[i] === CLOSE_BRACE) return (found(members), i + 1)
      if (bytes[i] !== COMMA) return -1
      i = skipSpace(bytes, i + 1)
    }
    return skipValue(bytes, from)
  }
  let i = skipSpace(bytes, at + 1)
  if (bytes[i] === CLOSE_BRACKET) return true
  while (i < bytes.length) {
    const end = yield* bytes[i] === OPEN_BRACE ? objectAt(i) : endOf(i)
    if (end < 0) return false
    i = skipSpace(bytes, end)
    if (bytes[i] === CLOSE_BRACKET) return true
    if (bytes[i] !== COMMA) return false
    i = skipSpace(bytes, i + 1)
  }
  return false
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
  for (;;) {
    const member = memberAt(bytes, i)
    if (member === null) return null
    member.to = skipValue(bytes, member.from)
    if (member.to < 0) return null
    members.push(member)
    i = skipSpace(bytes, member.to)
    if (bytes[i] === CLOSE_BRACE) return members
    if (bytes[i] !== COMMA) return null
    i = skipSpace(bytes, i + 1)
  }
}

/** Reads a key and the start of its value; null at the end of the members. */
function memberAt(bytes: Buffer, at: number): { key: string; from: number; to: number } | null {
  if (bytes[at] !== QUOTE) return null
  const keyEnd = skipString(bytes, at)
  if (keyEnd < 0) return null
  const colon = skipSpace(bytes, keyEnd)
  if (bytes[colon] !== COLON) return null
  return { key: keyOf(bytes, at, keyEnd), from: skipSpace(bytes, colon + 1), to: -1 }
}

/** Lists the starts of the elements of the array at `at`; null if the text is not an array, or does not end. */
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
  for (;;) {
    // After an escaped quote the next quote may be near, too. A byte after a backslash at the border has been passed
    // already.
    for (const near = Math.min(bytes.length, i + NEAR_BYTES); i < near; i++) {
      const byte = bytes[i]
      if (byte === QUOTE) return i + 1
      if (byte === BACKSLASH) i++
    }
    const quote = bytes.indexOf(QUOTE, i)
    if (quote < 0) return -1
    let escapes = 0
    while (quote - 1 - escapes >= i && bytes[quote - 1 - escapes] === BACKSLASH) escapes++
    i = quote + 1
    if (escapes % 2 === 0) return i
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
