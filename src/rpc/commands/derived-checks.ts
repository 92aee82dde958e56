import { connect } from 'node:net'
import { checkOf, notChecked, type ConformanceCheck } from '../conformance-check.ts'
import { derivedUrls } from '../derived-urls.ts'
import { openRpcEndpoint } from './rpc-endpoint.ts'
import type { Send } from './rpc-probe.ts'

const VERSION = '{"jsonrpc":"2.0","id":1,"method":"getVersion","params":[]}'

interface Answered {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** Checks every URL that clients derive from the RPC URL: requests, and a handshake with a call and a subscription. */
export async function derivedChecks(rpcUrl: string, send: Send): Promise<readonly ConformanceCheck[]> {
  const { requests, sockets } = derivedUrls(rpcUrl)
  const checks: ConformanceCheck[] = []
  for (const { name, url } of requests) {
    const fault = await send({ url, body: VERSION }).then(
      ({ status, body }) => (hasResult(body) ? null : `HTTP ${status}: ${JSON.stringify(body)}`),
      (error: Error) => error.message
    )
    checks.push(checkOf(`request ${name}`, fault, 'answered'))
  }
  for (const { name, url, isOptional } of sockets) {
    const check = `socket ${name}`
    if (isOptional && !(await listens(url))) {
      const { port } = new URL(url)
      checks.push(
        notChecked(check, `nothing listens on port ${port} (MILLRACE_RPC_WS_COMPAT_PORT of the service)`)
      )
    } else checks.push(checkOf(check, await socketFault(url), 'call and subscription answered'))
  }
  if (requests.length < 2)
    checks.push(notChecked('the other name of the key', 'the URL has no `key` or `api-key` in its query'))
  return checks
}

/** Returns why a client cannot use a socket; null if it can. */
export async function socketFault(url: string, origin?: string): Promise<string | null> {
  try {
    const socket = await openRpcEndpoint('the handshake', url, origin)
    try {
      const call = async (method: string, params: unknown[]): Promise<Answered> => {
        const { body } = await socket.ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
        return body ?? {}
      }
      const version = await call('getVersion', [])
      if (!hasResult(version)) return `getVersion: ${JSON.stringify(version)}`
      const { result: id, error } = await call('slotSubscribe', [])
      if (typeof id !== 'number') return `slotSubscribe: ${JSON.stringify(error ?? id)}`
      const { result } = await call('slotUnsubscribe', [id])
      return result === true ? null : 'slotUnsubscribe did not return true'
    } finally {
      socket.end()
    }
  } catch (error) {
    return (error as Error).message
  }
}

const hasResult = (body: unknown): boolean => (body as Answered | null)?.result !== undefined

/** Tells whether something accepts connections at the port of a URL. */
function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''))
    const end = (found: boolean): void => {
      socket.destroy()
      resolve(found)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.setTimeout(5_000, () => end(false))
  })
}
