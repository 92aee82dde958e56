import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { clientNetwork } from '../../access/client-network.ts'
import { ERRORS, ServiceError } from '../errors.ts'
import type { AppDeps } from './deps.ts'
import type { Fields } from './fields.ts'
import { endWithProblem, parserRefusal } from './refusals.ts'

type Deps = Pick<AppDeps, 'bounds' | 'clock' | 'metrics' | 'logger'>

/** The code that counts connections closed because their client does not read. */
const UNREAD = 'answer_not_read'

/** A client address and its connections. */
interface Client {
  readonly address: string
  size: number
  /** Connections that wait for a complete request, the longest-waiting first. */
  readonly waiting: Set<Socket>
}

interface Connection {
  /** Null for a stream, which is bounded by key instead. */
  client: Client | null
  /** Requests whose answer is incomplete. */
  pending: number
  /** The newest of these requests. */
  request: IncomingMessage | null
  response: ServerResponse | null
  /** Whether a malformed request follows the pending ones. */
  isFaulty: boolean
  /** Whether the connection lingers after its last answer. */
  lingers: boolean
  /** Begins the answers to pipelined requests, in their order. */
  readonly waiting: (() => void)[]
}

/**
 * The connections of an HTTP server, bounded in number and in time.
 *
 * C1. A request that does not arrive completely in time, or that is malformed, is refused, and its connection is closed.
 * C2. An answer that is sent before its request has arrived completely is the last one of its connection.
 * C3. No refusal is written before or into the answer to an earlier request.
 * C4. At most one answer of a connection is made or unread: the next pipelined request begins once the last answer has left
 *     this process. A connection whose client does not read its answer is closed, and counted.
 * C5. At a bound, a new connection replaces the one that has waited longest for a request. If no connection waits, the new
 *     one is refused with 429.
 */
export class Connections {
  readonly #deps: Deps
  readonly #connections = new Map<Socket, Connection>()
  readonly #clients = new Map<string, Client>()
  /** Waiting connections of all addresses, the longest-waiting first. */
  readonly #waiting = new Set<Socket>()
  #ending = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Open connections, streams included. */
  get size(): number {
    return this.#connections.size
  }

  /** Follows the connections of a server; called once. */
  follow(server: Server): void {
    server.on('connection', (socket: Socket) => this.#admit(socket))
    // With this listener, Node does not close the connection itself.
    server.on('timeout', (socket: Socket) => {
      if (socket.writableLength > 0 && this.#connections.has(socket))
        this.#deps.metrics.connectionsRefused.inc({ code: UNREAD })
      socket.destroy()
    })
    // Node would close the connection without an answer.
    server.on('connect', (_request, stream) => {
      stream.on('error', () => stream.destroy())
      const refusal = new ServiceError(
        'METHOD_INVALID',
        'CONNECT is not supported: this service is not a proxy'
      )
      this.#refuse(stream, refusal, ['allow', 'GET, HEAD, POST, DELETE, OPTIONS'])
    })
  }

  /** Wraps the listener of a server's requests. */
  guard(listener: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request
      // Bytes after the last answer of a connection are discarded.
      if (!socket.writable) return
      const connection = this.#begin(request, response)
      if (connection === undefined || connection.pending === 1) return listener(request, response)
      connection.waiting.push(() => listener(request, response))
      // No further request is parsed until this one begins.
      socket.pause()
    }
  }

  /** Begins the answer to the next pipelined request of a connection. */
  #beginNext(socket: Socket, { waiting }: Connection): void {
    const begin = waiting.shift()
    if (begin === undefined || !socket.writable) return
    socket.setTimeout(this.#deps.bounds.stalledMs)
    if (waiting.length === 0) socket.resume()
    begin()
  }

  /** Removes a connection whose key was accepted for a stream from the count of its address. */
  becomeStream(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    this.#leaveClient(socket, connection)
    connection.client = null
  }

  /** Handles the `clientError` of a server: malformed bytes, or a request that arrives too late. */
  refuseBytes(fault: Error & { readonly code?: string }, socket: Socket): void {
    // The last answer has been sent. Further bytes are discarded until the connection is closed.
    if (socket.writableEnded) return
    if (!socket.writable || fault.code === 'ECONNRESET') return void socket.destroy()
    const connection = this.#connections.get(socket)
    if (connection === undefined) return void socket.destroy()
    const { request, response } = connection
    if (!request?.complete) return this.#refuseRequest(socket, connection, parserRefusal(fault.code))
    if (connection.isFaulty) return
    connection.isFaulty = true
    response?.once('close', () => this.refuseBytes(fault, socket))
  }

  /**
   * Ends idle connections now, and the others after their last answer. The server's own `closeIdleConnections` spares
   * connections with an incomplete request, and those that become idle later.
   */
  endWhenIdle(): void {
    this.#ending = true
    for (const [socket, connection] of this.#connections) this.#endIdle(socket, connection)
  }

  #admit(socket: Socket): void {
    const { bounds } = this.#deps
    const address = clientNetwork(socket.remoteAddress ?? '')
    const client = this.#clients.get(address) ?? { address, size: 0, waiting: new Set() }
    const isAddressFull = client.size >= bounds.connectionsPerAddress
    if (isAddressFull || this.size >= bounds.connections) {
      const refusal = new ServiceError(
        'CONNECTIONS_EXCEEDED',
        isAddressFull ? 'this address has too many connections' : 'the service has too many connections'
      )
      const [oldest] = isAddressFull ? client.waiting : this.#waiting
      if (oldest === undefined) return this.#refuse(socket, refusal)
      this.#evict(oldest, refusal)
    }
    this.#clients.set(address, client)
    client.size++
    const none = { pending: 0, request: null, response: null, isFaulty: false, lingers: false }
    this.#connections.set(socket, { client, ...none, waiting: [] })
    this.#wait(socket, client)
    socket.once('close', () => this.#forget(socket))
  }

  /** Closes a waiting connection, with an answer if its client may expect one. */
  #evict(socket: Socket, refusal: ServiceError): void {
    const connection = this.#connections.get(socket)!
    this.#forget(socket)
    if (connection.request !== null || socket.bytesWritten === 0)
      return this.#refuseRequest(socket, connection, refusal)
    this.#count(refusal)
    socket.destroySoon()
  }

  #begin(request: IncomingMessage, response: ServerResponse): Connection | undefined {
    const { socket } = request
    const connection = this.#connections.get(socket)
    if (connection === undefined) return undefined
    connection.pending++
    connection.request = request
    connection.response = response
    if (hasBody(request)) this.#awaitBody(socket, request, response)
    else this.#stopWaiting(socket, connection.client)
    response.once('close', () => {
      connection.pending--
      if (connection.response === response) {
        connection.request = null
        connection.response = null
      }
      if (connection.pending > 0) return this.#beginNext(socket, connection)
      if (!this.#connections.has(socket)) return
      if (connection.client !== null) this.#wait(socket, connection.client)
      if (this.#ending) this.#endIdle(socket, connection)
    })
    // The complete answer is written by then. Node buffers the bytes that the client has not read.
    response.once('prefinish', () => {
      if (socket.writableLength > 0) socket.setTimeout(this.#deps.bounds.unreadMs)
    })
    return connection
  }

  /** Makes an answer that precedes the complete body the last of its connection (C2). */
  #awaitBody(socket: Socket, request: IncomingMessage, response: ServerResponse): void {
    const { shouldKeepAlive } = response
    response.shouldKeepAlive = false
    this.#lingerAtEnd(socket)
    request.once('end', () => {
      response.shouldKeepAlive = shouldKeepAlive
      this.#stopWaiting(socket, this.#connections.get(socket)?.client ?? null)
    })
  }

  /**
   * Makes a connection linger after its last answer. Closing it while data arrives would reset it, and the client
   * could lose the answer (RFC 9112, 9.6). Node closes with `destroySoon`.
   *
   * The function is created once per connection and holds no request. One function per request made its objects live
   * longer; garbage collection then took a third of the time of a small answer.
   */
  #lingerAtEnd(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined || connection.lingers) return
    connection.lingers = true
    socket.destroySoon = () => this.#linger(socket)
  }

  /** Refuses a request that has not arrived completely. */
  #refuseRequest(socket: Socket, { request, response }: Connection, refusal: ServiceError): void {
    if (request === null) return this.#refuse(socket, refusal)
    // The reader of the body answers. If there is no reader, an answer that ends the connection is on its way (C2).
    if (response?.headersSent || request.listenerCount('error') === 0) return
    this.#count(refusal)
    request.emit('error', refusal)
  }

  #refuse(stream: Duplex, refusal: ServiceError, more: Fields = []): void {
    const code = this.#count(refusal)
    const request_id = endWithProblem(stream, refusal, more)
    this.#deps.logger.debug({ request_id, code }, 'connection refused')
    this.#linger(stream)
  }

  /** Counts a refusal and returns its code on the wire. */
  #count(refusal: ServiceError): string {
    const { code } = ERRORS[refusal.code]
    this.#deps.metrics.connectionsRefused.inc({ code })
    return code
  }

  /** Closes a connection once its client has had time to read the last answer; at once beyond a bound. */
  #linger(stream: Duplex): void {
    const { clock, bounds } = this.#deps
    stream.end()
    const isCounted = this.#connections.has(stream as Socket)
    const timer = clock.setTimeout(() => stream.destroy(), isCounted ? bounds.lingerMs : 0)
    stream.once('close', () => clock.clearTimeout(timer))
  }

  #wait(socket: Socket, client: Client): void {
    this.#waiting.add(socket)
    client.waiting.add(socket)
  }

  #stopWaiting(socket: Socket, client: Client | null): void {
    this.#waiting.delete(socket)
    client?.waiting.delete(socket)
  }

  #forget(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    this.#connections.delete(socket)
    this.#leaveClient(socket, connection)
  }

  #leaveClient(socket: Socket, { client }: Connection): void {
    this.#stopWaiting(socket, client)
    if (client === null) return
    client.size--
    if (client.size === 0) this.#clients.delete(client.address)
  }

  #endIdle(socket: Socket, { pending }: Connection): void {
    if (pending === 0) socket.destroySoon()
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}
