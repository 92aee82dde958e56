import type { FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, type ServiceError } from '../../kernel/errors.ts'
import type { ErrorKind } from '../../kernel/error-kind.ts'
import { BODY_TOO_LARGE, errorText, type RpcError } from '../rpc-error.ts'
import { setFields, type Fields } from '../../kernel/http/fields.ts'
import { problemOf, serviceErrorOf } from '../../kernel/http/problem.ts'
import { RPC_TYPE } from './rpc-reply.ts'

/** Codes of errors that concern the request itself (src/docs/rpc.md); all others are −32603. */
const CODES: ReadonlyMap<ErrorKind, number> = new Map([
  [ERRORS.RATE_LIMITED, -32429],
  [ERRORS.UPSTREAM_ERROR, -32603],
  [ERRORS.NOT_CONFIGURED, -32603],
  [ERRORS.UPSTREAM_TIMEOUT, -32603],
  [ERRORS.SERVICE_DRAINING, -32603],
  [ERRORS.RESTARTING, -32603],
  [ERRORS.SERVICE_FAILED, -32603],
  [ERRORS.STORAGE_UNAVAILABLE, -32603],
  [ERRORS.DEADLINE_EXCEEDED, -32603]
])

/** An error of the JSON-RPC path as HTTP sends it. */
export interface RpcProblem {
  readonly status: number
  readonly fields: Fields
  readonly text: string
}

/** Renders an error. `id` is the JSON text of the id of the request; `null` if unknown. */
export function rpcProblem(error: ServiceError, requestId: string, id = 'null'): RpcProblem {
  const { status, retryable } = error.kind
  const text = errorText(rpcErrorOf(error, requestId), id)
  const length = String(Buffer.byteLength(text))
  const fields = ['vary', 'Origin', 'content-type', RPC_TYPE, 'content-length', length]
  if (status === 401) fields.push('www-authenticate', 'Bearer')
  const { retry_after: seconds = retryable ? 1 : null } = error.members
  if (typeof seconds === 'number') fields.push('retry-after', String(seconds))
  return { status, fields, text }
}

/** Answers an error of the JSON-RPC route before its body is read: the status of the problem, with a JSON-RPC body. */
export function sendRpcProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = serviceErrorOf(thrown)
  request.failure = error
  const { status, fields, text } = rpcProblem(error, request.id)
  setFields(reply, fields)
  return reply.code(status).send(text)
}

function rpcErrorOf(error: ServiceError, requestId: string): RpcError {
  if (error.kind === ERRORS.BODY_EXCEEDED) return BODY_TOO_LARGE.error
  const { detail, code } = problemOf(error, { id: requestId, origin: '' })
  const { limit, window_seconds, retry_after } = error.members
  return {
    code: CODES.get(error.kind) ?? -32600,
    message: detail,
    data: {
      code,
      retryable: error.kind.retryable,
      request_id: requestId,
      ...(error.kind === ERRORS.RATE_LIMITED && { limit, window_seconds, retry_after })
    }
  }
}
