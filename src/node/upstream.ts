import { ServiceError } from '../errors.ts'
import { NodeError } from './node-fault.ts'

/** Resolves like a question to the operator's node. Its faults become UPSTREAM_ERROR or UPSTREAM_TIMEOUT. */
export async function fromNode<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    // The fault's own text can name the node; it goes to the log with the cause.
    throw error.fault.kind === 'timeout'
      ? new ServiceError('UPSTREAM_TIMEOUT', 'the node did not answer in time', { cause: error })
      : new ServiceError('UPSTREAM_ERROR', 'the node does not answer this request now', { cause: error })
  }
}
