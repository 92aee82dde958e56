import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ServiceError } from '../errors.ts'

export const STREAM_PATH = '/v1/stream'
export const RPC_SOCKET_PATH = '/v1/rpc/ws'

const VERSION = '13'
/** 16 bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/
/** A list of subprotocol names. The service speaks none, but refuses a malformed list (RFC 6455, 4.1). */
const PROTOCOLS = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/

/** Header fields that name the expected protocol (RFC 9110, 15.5.22; RFC 6455, 4.2.2). */
export const HANDSHAKE_FIELDS = { upgrade: 'websocket', 'sec-websocket-version': VERSION } as const

/** Tells whether a request for an upgrade opens a WebSocket at one of some paths. The route checks everything else about it. */
export function isHandshake(
  { method, url = '', headers }: IncomingMessage,
  paths: readonly string[] = [STREAM_PATH, RPC_SOCKET_PATH]
): boolean {
  return (
    method === 'GET' &&
    paths.includes(url.split('?', 1)[0]!) &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    // A body could not be distinguished from the frames after the request.
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  )
}

/** Returns the refusal of a malformed handshake; undefined for a good one. */
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
