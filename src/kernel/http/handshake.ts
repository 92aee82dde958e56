import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ServiceError } from '../errors.ts'

export const STREAM_PATH = '/v1/stream'
export const RPC_PATH = '/v1/rpc'
export const RPC_SOCKET_PATH = '/v1/rpc/ws'

/**
 * Paths at which a handshake also opens the socket of the RPC URL. Clients derive the URL of their WebSocket from the only
 * URL that they are given, some of them with a slash before the query.
 */
const SOCKET_ALIASES: ReadonlySet<string> = new Set([RPC_PATH, `${RPC_PATH}/`, `${RPC_SOCKET_PATH}/`])

const VERSION = '13'
/** 16 bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/
/** A list of subprotocol names. The service speaks none, but refuses a malformed list (RFC 6455, 4.1). */
const PROTOCOLS = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/

/** Header fields that name the expected protocol (RFC 9110, 15.5.22; RFC 6455, 4.2.2). */
export const HANDSHAKE_FIELDS = { upgrade: 'websocket', 'sec-websocket-version': VERSION } as const

/** Tells whether a request for an upgrade opens a WebSocket at one of some paths. The route checks everything else. */
export function isHandshake(
  request: IncomingMessage,
  paths: readonly string[] = [STREAM_PATH, RPC_SOCKET_PATH]
): boolean {
  return asksForSocket(request) && paths.includes(socketPathOf(request.url!.split('?', 1)[0]!))
}

const socketPathOf = (path: string): string => (SOCKET_ALIASES.has(path) ? RPC_SOCKET_PATH : path)

/**
 * Returns the URL under which a request is routed. A handshake at `/v1/rpc` opens the socket of the RPC URL, with or without
 * a slash after the path.
 */
export function routedUrl(request: IncomingMessage): string {
  const url = request.url!
  if (!url.startsWith(RPC_PATH)) return url
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  if (!SOCKET_ALIASES.has(path)) return url
  const routed = asksForSocket(request) || path === `${RPC_SOCKET_PATH}/` ? RPC_SOCKET_PATH : RPC_PATH
  return end === -1 ? routed : routed + url.slice(end)
}

/** Tells whether a request is for a WebSocket, at any path. */
export function asksForSocket({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    // A body could not be distinguished from the frames after the request.
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  )
}

/** Returns the refusal of a malformed handshake; undefined for a valid one. */
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
