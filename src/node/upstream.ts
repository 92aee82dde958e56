import { ServiceError } from '../kernel/errors.ts'
import { NodeError } from './node-fault.ts'

/** Resolves like a request to the operator's node. Its faults become UPSTREAM_ERROR or UPSTREAM_TIMEOUT. */
export async function fromNode<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof NodeError ? upstreamError(error) : error
  }
}

/** Returns the error that clients get for a node's fault. */
export function upstreamError(error: NodeError): ServiceError {
  // The fault's own text can name the node; it goes to the log with the cause.
  return isTimeout(error)
    ? new ServiceError('UPSTREAM_TIMEOUT', 'the node did not answer in time', { cause: error })
    : new ServiceError('UPSTREAM_ERROR', 'the node does not answer this request now', { cause: error })
}

/**
 * Returns whether a fault is a timeout to clients, who do not distinguish a node that accepts no connection from a
 * silent one.
 */
function isTimeout({ fault, cause }: NodeError): boolean {
  if (fault.kind === 'timeout') return true
  return (
    fault.kind === 'unreachable' &&
    (cause as NodeJS.ErrnoException | undefined)?.code === 'UND_ERR_CONNECT_TIMEOUT'
  )
}
