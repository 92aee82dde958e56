import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../errors.ts'
import type { AppDeps } from './app.ts'
import { sendProblem } from './plugins/problems.ts'
import { plainFields, setPlainHeaders } from './plugins/requests.ts'
import { problemOf } from './problem.ts'

/** Answers a URL that no route can be found for because it cannot be decoded; no hook runs for it. */
export function refuseUrl(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Pick<AppDeps, 'feed' | 'clock'>
): void {
  setPlainHeaders(request, reply, deps)
  sendProblem(request, reply, new ServiceError('PARAMETER_INVALID', 'the URL is not well encoded'))
}

/** Answers bytes that are no request, or too many of them, and ends the connection: there is no telling what follows. */
export function refuseBytes(fault: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || fault.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const id = randomUUID()
  const problem = problemOf(refusalOf(fault.code), { id, origin: '' })
  const body = JSON.stringify(problem)
  const fields = [
    ...plainFields(id),
    ...['content-type', 'application/problem+json; charset=utf-8'],
    ...['content-length', String(Buffer.byteLength(body))],
    ...['connection', 'close']
  ]
  const lines = fields.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
}

function refusalOf(code: string | undefined): ServiceError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError('HEADERS_EXCEEDED', 'the request line and headers have more than 16 KiB')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServiceError('REQUEST_TIMEOUT', 'the request took too long to arrive')
    default:
      return new ServiceError('PARAMETER_INVALID', 'the request is malformed')
  }
}
