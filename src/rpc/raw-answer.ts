import { membersOf, scanObjects, skipSpace, type JsonMember } from './json-scan.ts'
import type { RpcMethod, SlotPlace } from './methods.ts'
import { readPlainAnswers, type RawAnswer } from './plain-answers.ts'

export type { RawAnswer }

/** The beginning of a long answer: the offset of its value, and the expected end. */
export interface LongHead {
  readonly valueAt: number
  readonly slot: number | null
  /** Whether the id came before the value, so that it need not follow. */
  readonly hadId: boolean
}

/** Maximum bytes between the value's last byte and the end of the answer. */
export const TAIL_BYTES = 256

/**
 * Reads the answer to the request with our id; null for any other body. A node that cannot parse a request answers
 * with id null. Such an answer is a refusal of the client's params, not a fault of the node.
 */
export function readAnswer(bytes: Buffer, id: number, method: Pick<RpcMethod, 'slot'>): RawAnswer | null {
  if (!isJson(bytes)) return null
  const at = skipSpace(bytes, 0)
  const members = membersOf(bytes, at)
  if (members === null) return null
  return answerIn(bytes, members, (found) => (found === id ? method : undefined)) ?? refusalIn(bytes, members)
}

/** Reads a node's refusal of a whole body; null for any other body, and for one longer than any refusal. */
export function readRefusal(bytes: Buffer): RawAnswer | null {
  if (bytes.length > CHECKED_BYTES_MAX || !isJson(bytes)) return null
  const members = membersOf(bytes, skipSpace(bytes, 0))
  return members && refusalIn(bytes, members)
}

/**
 * Reads the answers to a batch with consecutive ids from `first`, in the order of the requests. A missing answer is
 * null. Returns null if the node refused the whole batch. Values of a long body are not parsed.
 */
export function readAnswers(
  bytes: Buffer,
  first: number,
  methods: readonly Pick<RpcMethod, 'slot'>[]
): (RawAnswer | null)[] | null {
  const plain = bytes.length <= CHECKED_BYTES_MAX ? readPlainAnswers(bytes, first, methods) : null
  if (plain !== null) return plain
  if (bytes.length <= CHECKED_BYTES_MAX && !isJson(bytes)) return null
  const scan = scanAnswers(bytes, first, methods)
  for (;;) {
    const step = scan.next()
    if (step.done === true) return step.value
  }
}

/** Reads the answers of a body of any length as `readAnswers` does, and yields where other work may run. */
export function* scanAnswers(
  bytes: Buffer,
  first: number,
  methods: readonly Pick<RpcMethod, 'slot'>[]
): Generator<void, (RawAnswer | null)[] | null, void> {
  const answers = methods.map((): RawAnswer | null => null)
  const isList = yield* scanObjects(bytes, skipSpace(bytes, 0), (members) => {
    let index = -1
    const answer = answerIn(bytes, members, (id) => methods[(index = id - first)])
    if (answer !== null && index >= 0) answers[index] = answer
  })
  return isList ? answers : null
}

/**
 * Reads the beginning of an answer that is too long to parse. Returns null if it is not an answer to our id, or if it
 * is an error: no node gives an error that long.
 */
export function readLongHead(bytes: Buffer, id: number, method: Pick<RpcMethod, 'slot'>): LongHead | null {
  const text = bytes.toString('latin1', 0, HEAD_BYTES)
  const found = HEAD.exec(text)
  if (found === null) return null
  const [head, ids = ''] = found
  const said = /"id"\s*:\s*(\d+)/.exec(ids)?.[1]
  if (said !== undefined && Number(said) !== id) return null
  return {
    valueAt: head.length,
    slot: slotOf(bytes.subarray(head.length), method.slot),
    hadId: said !== undefined
  }
}

/**
 * Returns the number of bytes that follow the value in a long answer's last bytes. Null if the answer was cut off: it
 * does not end like an answer to our id.
 */
export function lengthAfterValue(tail: Buffer, id: number, hadId: boolean): number | null {
  const found = TAIL.exec(tail.toString('latin1'))
  if (found === null) return null
  const [text, members = ''] = found
  const said = /"id"\s*:\s*(\d+)/.exec(members)?.[1]
  if (said === undefined ? !hadId : Number(said) !== id) return null
  return text.length
}

const HEAD = /^\s*\{((?:\s*"(?:jsonrpc|id)"\s*:\s*(?:"2\.0"|\d+)\s*,)*)\s*"result"\s*:\s*/
const TAIL = /((?:,\s*"(?:jsonrpc|id)"\s*:\s*(?:"2\.0"|\d+)\s*)*)\}\s*$/
/** The paths of the slot in results. Both are among the first members, as every node writes them. */
const SLOTS = {
  context: /^\{\s*"context"\s*:\s*\{[^{}]*?"slot"\s*:\s*(\d+)/,
  absoluteSlot: /"absoluteSlot"\s*:\s*(\d+)/
} as const
/** Bytes that are searched for the head of an answer, and for the slot of a result. */
const HEAD_BYTES = 1024
/** Maximum bytes of an answer whose JSON is validated: 64 KiB take 0.2 ms. */
export const CHECKED_BYTES_MAX = 64 * 1024

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'))
    return true
  } catch {
    return false
  }
}

/** Reads the answer with some members; `methodOf` returns the method of the request with an id, if there is one. */
function answerIn(
  bytes: Buffer,
  list: readonly JsonMember[],
  methodOf: (id: number) => Pick<RpcMethod, 'slot'> | undefined
): RawAnswer | null {
  const members = valuesOf(bytes, list)
  const method = methodOf(Number(members.get('id')?.toString('latin1') ?? Number.NaN))
  if (method === undefined) return null
  const error = members.get('error')
  const code = error === undefined ? null : codeOf(error)
  if (code !== null) return { kind: 'error', bytes: error!, code, slot: null, isNull: false }
  const result = members.get('result')
  if (result === undefined) return null
  const isNull = result.length === 4 && result.toString('latin1') === 'null'
  return { kind: 'result', bytes: result, code: null, slot: slotOf(result, method.slot), isNull }
}

function refusalIn(bytes: Buffer, list: readonly JsonMember[]): RawAnswer | null {
  const members = valuesOf(bytes, list)
  const error = members.get('error')
  const code = error === undefined ? null : codeOf(error)
  if (code === null || (members.get('id') ?? NULL).toString('latin1') !== 'null') return null
  return { kind: 'error', bytes: error!, code, slot: null, isNull: false }
}

const valuesOf = (bytes: Buffer, members: readonly JsonMember[]): ReadonlyMap<string, Buffer> =>
  new Map(members.map(({ key, from, to }) => [key, bytes.subarray(from, to)]))

const NULL = Buffer.from('null')

/** The code of an error; null for a value that is not an error, such as the `null` next to a result, or a very long one. */
function codeOf(error: Buffer): number | null {
  if (error.length > CHECKED_BYTES_MAX) return null
  try {
    const { code } = JSON.parse(error.toString('utf8')) as { code?: unknown }
    return typeof code === 'number' ? code : null
  } catch {
    return null
  }
}

function slotOf(result: Buffer, place: SlotPlace): number | null {
  if (place === 'none') return null
  const text = result.toString('latin1', 0, HEAD_BYTES)
  const found = place === 'result' ? /^(\d+)$/.exec(text) : SLOTS[place].exec(text)
  const slot = Number(found?.[1] ?? Number.NaN)
  return Number.isSafeInteger(slot) ? slot : null
}
