import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { isWebOrigin } from '../access/web-origin.ts'
import { ServiceError } from '../errors.ts'
import { forwardedHost } from './host.ts'

export const STREAM_PATH = '/v1/stream'

const VERSION = '13'
/** 16 bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/
/** Names of subprotocols; none is spoken, but what is no list of tokens is refused (RFC 6455, 4.1). */
const PROTOCOLS = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/

/** Header fields that say what to ask for instead (RFC 9110, 15.5.22; RFC 6455, 4.2.2). */
export const HANDSHAKE_FIELDS = { upgrade: 'websocket', 'sec-websocket-version': VERSION } as const

/** Whether a request that asks for an upgrade begins a stream: all else about it is judged by the route. */
export function isHandshake({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    url.split('?', 1)[0] === STREAM_PATH &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    // A body could not be told from the frames that follow the request.
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  )
}

/** Returns the refusal of a handshake by its header fields; undefined for a good one. */
export function handshakeFault(headers: IncomingHttpHeaders): ServiceError | undefined {
  if (headers['sec-websocket-version'] !== VERSION)
    return new ServiceError('UPGRADE_MISSING', `Sec-WebSocket-Version must be ${VERSION}`)
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    return new ServiceError('PARAMETER_INVALID', 'Sec-WebSocket-Key must be 16 bytes in base64')
  const protocols = headers['sec-websocket-protocol']
  if (protocols !== undefined && !PROTOCOLS.test(protocols))
    return new ServiceError('PARAMETER_INVALID', 'Sec-WebSocket-Protocol must be a list of names')
  return undefined
}

/**
 * Whether a key may open a stream for whoever sends the given fields. A browser names the origin of its page: it must be
 * this service's own or one that the key lists. Other clients name none.
 */
export function mayOpenStream(caller: Caller, headers: IncomingHttpHeaders): boolean {
  const { origin } = headers
  return origin === undefined || caller.mayBeUsedBy(origin) || isOwnOrigin(origin, headers)
}

/**
 * Whether the host of an origin is the one that the browser asked. A proxy may speak another scheme than this service, and
 * replace `Host`; the host that it was asked for is in `X-Forwarded-Host` then. A page can set neither field.
 */
function isOwnOrigin(origin: string, headers: IncomingHttpHeaders): boolean {
  if (!isWebOrigin(origin)) return false
  const own = new URL(origin)
  return [headers.host, forwardedHost(headers)].some((name) => {
    // An origin leaves out the port that its scheme implies; `Host` may have it.
    const url = `${own.protocol}//${name}`
    return name !== undefined && URL.canParse(url) && new URL(url).host === own.host
  })
}
