import { ERRORS, ServiceError, type ErrorCode } from '../errors.ts'
import { NodeError } from '../../node/node-fault.ts'
import { upstreamError } from '../../node/upstream.ts'

/** An error as served (RFC 9457, src/docs/endpoints.md). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly request_id: string
  readonly errors?: readonly { readonly field: string; readonly message: string }[]
}

/** Returns the path of the page that explains a problem. */
export function problemPath(code: string): string {
  return `/problems/${code.replaceAll('_', '-')}`
}

/**
 * The `detail` of failures on our side. The error's own text names hosts, files and drivers, so it goes only to the
 * log.
 */
const PUBLIC_DETAILS: Partial<Record<ErrorCode, string>> = {
  SERVICE_FAILED: 'the request failed on our side',
  STORAGE_UNAVAILABLE: 'the store does not answer; retry'
}

export function problemOf(
  error: ServiceError,
  request: { readonly id: string; readonly origin: string }
): Problem {
  const { status, code, title } = ERRORS[error.code]
  return {
    type: request.origin + problemPath(code),
    title,
    status,
    detail: PUBLIC_DETAILS[error.code] ?? error.detail,
    code,
    request_id: request.id,
    ...(error.fields.length > 0 ? { errors: error.fields } : {}),
    ...error.members
  }
}

/**
 * Returns the error to send for a thrown value: a ServiceError unchanged, a node's fault as an upstream fault, any other
 * value as an internal error without details.
 */
export function serviceErrorOf(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  if (thrown instanceof NodeError) return upstreamError(thrown)
  const statusCode =
    typeof thrown === 'object' && thrown !== null && 'statusCode' in thrown ? thrown.statusCode : undefined
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || thrown instanceof SyntaxError) {
    return new ServiceError('JSON_INVALID', 'the body is not valid JSON', { cause: thrown })
  }
  if (statusCode === 413) return new ServiceError('BODY_EXCEEDED', 'the body is too large', { cause: thrown })
  if (statusCode === 415) {
    return new ServiceError('MEDIA_TYPE_INVALID', 'the body must be application/json', { cause: thrown })
  }
  if (statusCode === 400)
    return new ServiceError('PARAMETER_INVALID', 'the request is malformed', { cause: thrown })
  return new ServiceError('SERVICE_FAILED', PUBLIC_DETAILS.SERVICE_FAILED!, { cause: thrown })
}
