import { isCount, isObject, objectOf, Unreadable } from '../chain/rpc/fields.ts'
import { NodeError } from './node-fault.ts'
import type { CallOptions, RpcClient } from './rpc-client.ts'

/** Reads a result, or throws Unreadable. `body` is the whole response, for numbers that JSON.parse has rounded. */
export type ReadResult<T> = (result: unknown, body: Buffer) => T

/**
 * Calls a method of a node and reads the result.
 *
 * @throws NodeError for any fault of the node, also for a result that cannot be read; the signal's reason when it aborts
 */
export async function callAndRead<T>(
  client: RpcClient,
  method: string,
  params: readonly unknown[],
  options: CallOptions,
  read: ReadResult<T>
): Promise<T> {
  const { result, body } = await client.call(method, params, options)
  try {
    return read(result, body)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const detail = `${error.field} in the answer to ${method}`
    throw new NodeError(client.name, { kind: 'garbage', detail })
  }
}

/** A result with a context: its slot, and the value. */
export interface InContext {
  readonly slot: number
  /** The version of the node; absent if the node does not state it. */
  readonly apiVersion?: string
  readonly value: unknown
}

/** Reads a result with a context. Throws Unreadable. */
export function readInContext(result: unknown): InContext {
  const { context, value } = objectOf(result, 'result')
  const { slot, apiVersion } = isObject(context) ? context : {}
  if (!isCount(slot)) throw new Unreadable('context.slot')
  if (value === undefined) throw new Unreadable('value')
  return { slot, value, ...(typeof apiVersion === 'string' && { apiVersion }) }
}
