import { parseJson, writeJson } from './json.ts'
import { paramsOf, type Method, type NodeContext } from './method.ts'
import { isMap, type JsonMap } from './params.ts'
import { internalError, invalidRequest, methodNotFound, parseError, RpcError } from './rpc-error.ts'

/**
 * Maximum total length of a batch's answers, in characters; calls above it are refused without running. It bounds the
 * memory of one request.
 */
export const BATCH_ANSWER_CHARACTERS_MAX = 64 * 1024 * 1024

/** Runs a method by name and returns the answer as JSON text. Throws RpcError. */
export type Run = (name: string, params: unknown) => string

/**
 * Builds a runner of methods. An error other than RpcError is a bug, and is passed to `onFault`. `check` may throw one
 * before a call is run.
 */
export function runner(
  node: NodeContext,
  methods: ReadonlyMap<string, Method>,
  onFault: (error: unknown) => void,
  check: (name: string) => void = () => undefined
): Run {
  return (name, params) => {
    const found = methods.get(name)
    if (found === undefined) throw methodNotFound()
    check(name)
    try {
      return writeJson(found.run(node, paramsOf(found, params)))
    } catch (error) {
      if (error instanceof RpcError) throw error
      onFault(error)
      throw internalError()
    }
  }
}

/**
 * Answers a request body with one call or a batch, as in JSON-RPC 2.0 and Agave's server; null if no answer is due. A
 * batch runs in order. An element that is not a call fails the whole batch.
 */
export function answer(body: string, run: Run): string | null {
  let request: unknown
  try {
    request = parseJson(body)
  } catch {
    return failure(parseError(), null)
  }
  if (!Array.isArray(request)) {
    return isCall(request) ? answerCall(request, run) : failure(parseError(), null)
  }
  if (!request.every(isCall)) return failure(parseError(), null)
  const answers: string[] = []
  let characters = 0
  for (const call of request as readonly JsonMap[]) {
    const full = characters > BATCH_ANSWER_CHARACTERS_MAX
    const text = answerCall(call, full ? refuseMore : run)
    if (text === null) continue
    characters += text.length
    answers.push(text)
  }
  return answers.length === 0 ? null : `[${answers.join(',')}]`
}

const refuseMore: Run = () => {
  throw internalError('The answers to this batch are too large: request less at once')
}

const U64_MAX = 2n ** 64n - 1n

/** Tells whether a value is an object whose id a node accepts: text, a u64, null, or absent. */
function isCall(value: unknown): value is JsonMap {
  if (!isMap(value)) return false
  const { id } = value
  if (id === undefined || id === null || typeof id === 'string') return true
  if (typeof id === 'bigint') return id >= 0n && id <= U64_MAX
  return Number.isSafeInteger(id) && (id as number) >= 0
}

const MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params'])

function answerCall(call: JsonMap, run: Run): string | null {
  const { jsonrpc, id, method, params } = call
  const isNotification = id === undefined && typeof method === 'string'
  if (isNotification) return null
  const text = id === undefined ? 'null' : idText(id)
  const wellFormed =
    typeof method === 'string' &&
    (params === undefined || params === null || typeof params === 'object') &&
    (jsonrpc === '2.0' || jsonrpc === undefined || jsonrpc === null) &&
    Object.keys(call).every((name) => MEMBERS.has(name))
  if (!wellFormed) return failure(invalidRequest(), text)
  if (jsonrpc !== '2.0') {
    // A request without a version gets an answer without a version.
    const { code, message } = invalidRequest('Unsupported JSON-RPC protocol version')
    return `{"error":${JSON.stringify({ code, message })},"id":${text}}`
  }
  try {
    return `{"jsonrpc":"2.0","result":${run(method, params)},"id":${text}}`
  } catch (error) {
    if (error instanceof RpcError) return failure(error, text)
    throw error
  }
}

function idText(id: unknown): string {
  return typeof id === 'bigint' ? id.toString() : JSON.stringify(id)
}

function failure({ code, message, data }: RpcError, id: string | null): string {
  const error = JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) })
  return `{"jsonrpc":"2.0","error":${error},"id":${id ?? 'null'}}`
}
