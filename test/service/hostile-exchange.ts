import { connect } from 'node:net'
import type { HostileRequest } from './hostile-requests.ts'

/** Details that must not reach a client: paths, stacks, names of libraries and of their errors. */
const INTERNAL =
  /\/work|\/tmp\/|\/usr\/|\/home\/|root:x:|node_modules|node:internal|\.ts\b|\n\s+at |\bstack\b|FST_|HPE_|ERR_|\bzod\b|ENOENT|LEVEL_|[A-Z]\w+Error\b|fastify|undefined|\[object/i
/** Only a service that never ends a connection takes this long. */
const PATIENCE_MS = 60_000

export interface Exchange {
  /** Null if the connection was closed without an answer, as it is for bytes that are no request. */
  readonly status: number | null
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Writes a request, ends the writing side, and reads until the service closes the connection. */
export function exchange(port: number, { bytes }: HostileRequest): Promise<Exchange | 'no end'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const timer = setTimeout(() => finish('no end'), PATIENCE_MS)
    function finish(outcome?: 'no end'): void {
      clearTimeout(timer)
      socket.destroy()
      resolve(outcome ?? parsed(Buffer.concat(chunks).toString('latin1')))
    }
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => finish())
    // A service that refuses a request early resets the connection while bytes are still being written. Its answer, if any,
    // has arrived by then.
    socket.on('error', () => finish())
    socket.on('connect', () => socket.end(bytes))
  })
}

function parsed(whole: string): Exchange {
  // Skips an interim answer, which only says that the service is ready for the body.
  const text = whole.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end === -1 ? text.length : end).split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]
  const headers = new Map(
    lines.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()])
  )
  const body = end === -1 ? '' : Buffer.from(text.slice(end + 4), 'latin1').toString('utf8')
  return { status: status === undefined ? null : Number(status), headers, body }
}

/** Returns the fault in the service's answer to a bad request, or null if the answer is correct. */
export function complaintOf({ isHead }: HostileRequest, outcome: Exchange | 'no end'): string | null {
  if (outcome === 'no end') return 'no answer and no end'
  const { status, headers, body } = outcome
  if (status === null) return body === '' ? null : 'an answer that is no HTTP'
  if (status >= 500) return `status ${status}`
  if (status < 400) return null
  const id = headers.get('x-request-id')
  if (id === undefined || id === '') return `${status} without a request id`
  const type = headers.get('content-type') ?? ''
  if (!type.startsWith('application/problem+json')) return `${status} as ${type}`
  if (isHead) return null
  return complaintOfProblem(status, id, body, headers.get('transfer-encoding') === 'chunked')
}

function complaintOfProblem(status: number, id: string, body: string, chunked: boolean): string | null {
  if (chunked) return `${status} in chunks`
  const leak = INTERNAL.exec(body)
  if (leak !== null) return `${status} tells of ${JSON.stringify(leak[0])}`
  try {
    const problem = JSON.parse(body) as Record<string, unknown>
    if (problem.status !== status) return `${status} with another status in its body`
    if (problem.request_id !== id) return `${status} with another request id in its body`
    const words = [problem.type, problem.title, problem.detail, problem.code]
    return words.every((word) => typeof word === 'string' && word !== '')
      ? null
      : `${status} with a part missing`
  } catch {
    return `${status} with a body that is no JSON`
  }
}
