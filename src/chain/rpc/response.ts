import { isObject } from './fields.ts'

/** A node's error in place of a result. */
export interface RpcFailure {
  readonly kind: 'rpc-error'
  readonly code: number | null
  readonly message: string
}

/** The outcome of a null result: the node has no such block or transaction. */
export interface AbsentOutcome {
  readonly kind: 'absent'
}

export type RpcPayload = { readonly kind: 'result'; readonly result: unknown } | RpcFailure | AbsentOutcome

/** Extracts the result of a JSON-RPC response; any other value counts as the result itself. */
export function unwrapResponse(value: unknown): RpcPayload {
  if (value === null || value === undefined) return { kind: 'absent' }
  if (!isObject(value)) return { kind: 'result', result: value }
  const { error, result } = value
  if (error !== undefined && error !== null) {
    const { code, message } = isObject(error) ? error : { code: null, message: error }
    return {
      kind: 'rpc-error',
      code: typeof code === 'number' ? code : null,
      message: typeof message === 'string' ? message : 'no message'
    }
  }
  if (result === undefined) return { kind: 'result', result: value }
  return result === null ? { kind: 'absent' } : { kind: 'result', result }
}
