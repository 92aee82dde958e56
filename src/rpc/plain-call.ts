import { isAscii } from 'node:buffer'
import { JSON_DEPTH_MAX } from '../kernel/json-depth.ts'

/** A call, or a notification. */
export interface RequestedCall {
  readonly kind: 'call'
  /** The JSON text of the id as the client wrote it; null for a notification. */
  readonly id: string | null
  readonly method: string
  /** The JSON text of the params as the client wrote them; null if the call has no params. */
  readonly params: string | null
  readonly paramsValue: unknown
}

/** Maximum bytes of such a body; longer ones are parsed by `JSON.parse`. A read of 100 accounts, the maximum, is shorter. */
const BYTES_MAX = 8 * 1024
/** A longer number may lose digits, and is left to `JSON.parse`. */
const ID = /0|[1-9]\d{0,14}|"[^"\u0000-\u001f]*"/y
const METHOD = /"\w+"/y
const OPEN_BRACE = 0x7b
const SPACE = 0x20

/**
 * Reads a body that is one call in the form that clients write: ASCII without escapes, each member once, params in an
 * array. Returns null for any other body, valid or not. Gives the result of `parseRequest` in a fraction of its time.
 */
export function readPlainCall(body: Buffer): RequestedCall | null {
  if (body.length > BYTES_MAX || body[0] !== OPEN_BRACE || !isAscii(body)) return null
  const text = body.toString('latin1')
  if (text.includes('\\')) return null
  let id: string | null = null
  let method: string | null = null
  let params: string | null = null
  let hasVersion = false
  for (let at = 1; ;) {
    const nameEnd = text.indexOf('":', at)
    if (nameEnd < 0) return null
    const from = text.charCodeAt(nameEnd + 2) === SPACE ? nameEnd + 3 : nameEnd + 2
    let to: number
    switch (text.slice(at, nameEnd)) {
      case '"id':
        if (id !== null || (to = endOf(ID, text, from)) < 0) return null
        id = text.slice(from, to)
        break
      case '"method':
        if (method !== null || (to = endOf(METHOD, text, from)) < 0) return null
        method = text.slice(from + 1, to - 1)
        break
      case '"params':
        if (params !== null || (to = endOfArray(text, from)) < 0) return null
        params = text.slice(from, to)
        break
      case '"jsonrpc':
        if (hasVersion || !text.startsWith('"2.0"', from)) return null
        to = from + 5
        hasVersion = true
        break
      default:
        return null
    }
    const next = text[to]
    if (next === '}') {
      if (to + 1 !== text.length || method === null || !hasVersion) return null
      const paramsValue = params === null ? null : parsed(params)
      return paramsValue === undefined ? null : { kind: 'call', id, method, params, paramsValue }
    }
    if (next !== ',') return null
    at = text.charCodeAt(to + 1) === SPACE ? to + 2 : to + 1
  }
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

/**
 * Returns the index after an array; -1 if no array begins or ends, or if it has too many levels. The elements are not
 * checked.
 */
function endOfArray(text: string, at: number): number {
  if (text[at] !== '[') return -1
  let depth = 0
  for (let i = at; i < text.length; i++) {
    const character = text[i]
    if (character === '"') {
      i = text.indexOf('"', i + 1)
      if (i < 0) return -1
    } else if (character === '[' || character === '{') {
      // The call is a level itself.
      if (++depth >= JSON_DEPTH_MAX) return -1
    } else if ((character === ']' || character === '}') && --depth === 0) return i + 1
  }
  return -1
}

/** Parses params; undefined if they are not JSON. */
function parsed(params: string): unknown {
  try {
    return JSON.parse(params)
  } catch {
    return undefined
  }
}
