import { isObject } from '../chain/rpc/fields.ts'

const MESSAGE_MAX = 200

export type AnswerReading =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'rpc'; readonly code: number; readonly message: string }
  | { readonly kind: 'garbage'; readonly detail: string }

/** Parses a JSON-RPC response to the request with this id. A node that cannot parse a request answers with id null. */
export function resultOf(bytes: Buffer, id: number): AnswerReading {
  const value = parsed(bytes)
  return value === undefined ? noJson(bytes) : readingOf(value, id)
}

/**
 * Parses the response to a batch with consecutive ids from `first`: the readings in the order of the requests. If a
 * node refuses the whole batch, returns that one reading instead.
 */
export function resultsOf(bytes: Buffer, first: number, count: number): AnswerReading | AnswerReading[] {
  const value = parsed(bytes)
  if (value === undefined) return noJson(bytes)
  if (!Array.isArray(value)) return readingOf(value, first)
  const byId = new Map(value.filter(isObject).map((each) => [each['id'], each]))
  return Array.from({ length: count }, (_, at) => readingOf(byId.get(first + at), first + at))
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

const noJson = (bytes: Buffer): AnswerReading => ({
  kind: 'garbage',
  detail: `no JSON in ${bytes.length} bytes`
})

function readingOf(value: unknown, id: number): AnswerReading {
  if (!isObject(value)) return { kind: 'garbage', detail: 'no JSON-RPC response' }
  const { error, result } = value
  if (isObject(error) && typeof error.code === 'number') {
    const message = typeof error.message === 'string' ? error.message : 'no message'
    return { kind: 'rpc', code: error.code, message: message.slice(0, MESSAGE_MAX) }
  }
  if (result === undefined) return { kind: 'garbage', detail: 'neither a result nor an error' }
  if (value.id !== id) return { kind: 'garbage', detail: 'the answer to another request' }
  return { kind: 'result', result }
}
