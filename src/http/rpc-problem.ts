import type { FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, type ErrorCode, type ServiceError } from '../errors.ts'
import { BODY_TOO_LARGE, errorText, type RpcError } from '../rpc/rpc-error.ts'
import { problemOf, serviceErrorOf } from './problem.ts'

/** Codes of errors that concern the request as such (spec choices, section 5); all others are −32603. */
const CODES: Partial<Record<ErrorCode, number>> = {
  RATE_LIMITED: -32429,
  UPSTREAM_ERROR: -32603,
  UPSTREAM_TIMEOUT: -32603,
  SERVICE_DRAINING: -32603,
  SERVICE_FAILED: -32603,
  STORAGE_UNAVAILABLE: -32603,
  DEADLINE_EXCEEDED: -32603
}

/** Answers an error of the JSON-RPC route: the status of the problem, with a JSON-RPC body whose id is null. */
export function sendRpcProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = serviceErrorOf(thrown)
  request.failure = error
  const { status, retryable } = ERRORS[error.code]
  if (status === 401) void reply.header('www-authenticate', 'Bearer')
  if (retryable && !reply.hasHeader('retry-after')) void reply.header('retry-after', '1')
  void reply.code(status).type('application/json; charset=utf-8')
  return reply.send(errorText(rpcErrorOf(error, request.id), 'null'))
}

function rpcErrorOf(error: ServiceError, requestId: string): RpcError {
  if (error.code === 'BODY_EXCEEDED') return BODY_TOO_LARGE.error
  const { detail, code } = problemOf(error, { id: requestId, origin: '' })
  const { limit, window_seconds, retry_after } = error.members
  return {
    code: CODES[error.code] ?? -32600,
    message: detail,
    data: {
      code,
      retryable: ERRORS[error.code].retryable,
      request_id: requestId,
      ...(error.code === 'RATE_LIMITED' && { limit, window_seconds, retry_after })
    }
  }
}
