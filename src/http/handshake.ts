import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ServiceError } from '../errors.ts'

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
