import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, ServiceError } from '../errors.ts'
import type { AppDeps } from './deps.ts'
import type { Fields } from './fields.ts'
import { sendProblem } from './plugins/problems.ts'
import { plainFields, setPlainHeaders } from './plugins/requests.ts'
import { problemOf } from './problem.ts'

/** Not imported: an import of this module also loads Node's fetch and WebSocket, for 6 MB and 50 ms at each start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Answers a URL that cannot be decoded; no hook runs for such a request. */
export function refuseUrl(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Pick<AppDeps, 'feed' | 'nodeHead' | 'clock'>
): void {
  setPlainHeaders(request, reply, deps)
  sendProblem(request, reply, new ServiceError('PARAMETER_INVALID', 'the URL is not well encoded'))
}

/**
 * Writes a problem as the last answer of a connection that has no response object, and ends its writing side. Returns
 * the request id.
 */
export function endWithProblem(connection: Duplex, error: ServiceError, more: Fields = []): string {
  const id = randomUUID()
  const problem = problemOf(error, { id, origin: '' })
  const body = JSON.stringify(problem)
  const fields = [
    ...plainFields(id),
    ...(ERRORS[error.code].retryable ? ['retry-after', '1'] : []),
    ...more,
    ...['content-type', 'application/problem+json; charset=utf-8'],
    ...['content-length', String(Buffer.byteLength(body))],
    ...['connection', 'close']
  ]
  const lines = fields.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  connection.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
  return id
}

/** Returns the refusal for an error code of Node's HTTP parser. */
export function parserRefusal(code: string | undefined): ServiceError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError('HEADERS_EXCEEDED', 'the request line and headers have more than 16 KiB')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ServiceError('BODY_EXCEEDED', 'the chunk extensions of the body have more than 16 KiB')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServiceError('REQUEST_TIMEOUT', 'the request took too long to arrive')
    default:
      return new ServiceError('PARAMETER_INVALID', 'the request is malformed')
  }
}
