import type { Socket } from 'node:net'
import { readAnswerHead, type AnswerHead } from '../../src/rpc/answer-head.ts'
import type { SocketRead } from './socket-read.ts'

/** Bytes of the head of a response. Four times the longest that nodes and providers send. */
const HEAD_BYTES_MAX = 8 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')

/** Events of a socket, for its owner. */
export interface ReadSocketEvents {
  /** The socket is free for the next read. */
  readonly free: (socket: ReadSocket) => void
  /** The socket has ended. */
  readonly ended: (socket: ReadSocket) => void
  /** The node sent a response that is not of the usual form. */
  readonly unusual: () => void
}

/** Error of a socket, with a code by which `NodeLink.faultOf` names the fault. */
const socketError = (message: string, code: string): Error => Object.assign(new Error(message), { code })

/** A connection to a node that carries one read at a time. Anything of an unusual form ends it. */
export class ReadSocket {
  readonly #socket: Socket
  readonly #stallMs: number
  readonly #events: ReadSocketEvents
  #read: SocketRead | null = null
  /** The bytes of an incomplete head, or null. */
  #head: Buffer | null = null
  /** Bytes of the body that are still to come; null while the head is. */
  #left: number | null = null
  #isPersistent = true
  #isConnected = false
  #hasCarried = false
  #isEnded = false
  /** When it became free, by the caller's clock. */
  freeSinceMs = 0

  constructor(
    socket: Socket,
    connected: 'connect' | 'secureConnect',
    { connectMs, stallMs }: { readonly connectMs: number; readonly stallMs: number },
    events: ReadSocketEvents
  ) {
    this.#socket = socket
    this.#stallMs = stallMs
    this.#events = events
    socket.setTimeout(connectMs)
    socket.once(connected, () => {
      this.#isConnected = true
      socket.setTimeout(stallMs)
    })
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('timeout', () => this.#timedOut())
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(socketError('the connection was closed', 'ECONNRESET')))
    socket.on('end', () => this.#fail(socketError('the node has ended the connection', 'ECONNRESET')))
  }

  /** Writes a request. The socket must be free. */
  carry(read: SocketRead): void {
    this.#read = read
    read.socket = this
    read.answer.onRequestStart(read)
    if (!this.#isEnded) this.#socket.write(read.request, 'utf8')
  }

  /** Ends the socket. Its read gets `reason`. */
  abort(reason: Error): void {
    this.#end()?.answer.onResponseError(null, reason)
  }

  pause(): void {
    this.#socket.pause()
    this.#socket.setTimeout(0)
  }

  resume(): void {
    this.#socket.resume()
    this.#socket.setTimeout(this.#stallMs)
  }

  #take(chunk: Buffer): void {
    if (this.#read === null) return void this.#end()
    if (this.#left === null) return this.#takeHead(chunk)
    this.#takeBody(chunk)
  }

  #takeHead(chunk: Buffer): void {
    const bytes = this.#head === null ? chunk : Buffer.concat([this.#head, chunk])
    const at = bytes.indexOf(HEAD_END)
    if (at < 0) {
      if (bytes.length > HEAD_BYTES_MAX) return this.#unusual()
      this.#head = bytes
      return
    }
    this.#head = null
    const head = at > HEAD_BYTES_MAX ? null : readAnswerHead(bytes.toString('latin1', 0, at))
    const body = bytes.subarray(at + HEAD_END.length)
    if (head === null || body.length > (head.length ?? Infinity)) return this.#unusual()
    if (head.length === null) return this.#finishWithoutBody(head)
    this.#left = head.length
    this.#isPersistent = head.isPersistent
    this.#read!.answer.onResponseStart(this.#read!, head.status, head.fields)
    if (body.length > 0) this.#takeBody(body)
    else if (head.length === 0) this.#finish()
  }

  #takeBody(chunk: Buffer): void {
    const left = this.#left! - chunk.length
    if (left < 0) return this.#fail(socketError('more bytes than the response states', 'ECONNRESET'))
    this.#left = left
    this.#read!.answer.onResponseData(this.#read!, chunk)
    // The answer may have ended the socket.
    if (left === 0 && !this.#isEnded) this.#finish()
  }

  #finish(): void {
    const { answer } = this.#leave()!
    this.#left = null
    this.#hasCarried = true
    if (this.#socket.isPaused()) this.resume()
    if (this.#isPersistent) this.#events.free(this)
    else this.#end()
    answer.onResponseEnd()
  }

  /** Ends the socket after a refusal whose body is not read. */
  #finishWithoutBody({ status, fields }: AnswerHead): void {
    const read = this.#end()!
    read.answer.onResponseStart(read, status, fields)
    read.answer.onResponseEnd()
  }

  #unusual(): void {
    const read = this.#end()
    this.#events.unusual()
    read?.resend()
  }

  #timedOut(): void {
    this.#fail(
      this.#isConnected
        ? socketError('no bytes in time', 'UND_ERR_BODY_TIMEOUT')
        : socketError('no connection in time', 'UND_ERR_CONNECT_TIMEOUT')
    )
  }

  /** Ends the socket. Its read fails, or is sent again if the node closed an idle connection just before. */
  #fail(error: NodeJS.ErrnoException): void {
    const wasIdle = this.#hasCarried && this.#left === null && this.#head === null
    const isDropped = error.code === 'ECONNRESET' || error.code === 'EPIPE'
    const read = this.#end()
    if (wasIdle && isDropped) read?.resend()
    else read?.answer.onResponseError(null, error)
  }

  /** Ends the socket, and returns the read that it carried. */
  #end(): SocketRead | null {
    if (this.#isEnded) return null
    this.#isEnded = true
    this.#socket.destroy()
    const read = this.#leave()
    this.#events.ended(this)
    return read
  }

  #leave(): SocketRead | null {
    const read = this.#read
    this.#read = null
    if (read !== null) read.socket = null
    return read
  }
}
