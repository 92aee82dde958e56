import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../src/ports.ts'
import type { AnswerBody } from '../../src/node/answer-body.ts'
import { ReadSocket, type ReadSocketEvents } from './read-socket.ts'
import { SocketRead } from './socket-read.ts'

export interface ReadSocketsOptions {
  readonly origin: string
  readonly path: string
  /** Field values of each request by name in lower case; the framing is added. */
  readonly headers: Readonly<Record<string, string>>
  /** Maximum sockets; further reads wait in order. */
  readonly connections: number
  readonly connectMs: number
  /** Maximum milliseconds until an answer begins, and between pieces of it. */
  readonly stallMs: number
}

/** Milliseconds after which an idle socket is not used again: nodes close theirs after 5 s or later. */
const IDLE_MS = 4_000
/** Milliseconds without this client after an unusual response, so that a node that always sends such gets no read twice. */
const OFF_MS = 60_000

/**
 * Sends reads to a node over persistent HTTP/1.1 connections, one at a time on each. It takes a third of the CPU time of a
 * complete HTTP client, because it knows one form of request and one of response. Every other response ends its
 * socket, and the read goes to the complete client. Requests that must not be sent twice are not for it.
 */
export class ReadSockets {
  readonly #options: ReadSocketsOptions
  readonly #clock: Pick<Clock, 'now'>
  readonly #head: string
  readonly #open: () => Socket
  readonly #connected: 'connect' | 'secureConnect'
  /** The most recently used last. */
  readonly #free: ReadSocket[] = []
  readonly #all = new Set<ReadSocket>()
  readonly #waiting = new Set<SocketRead>()
  #offUntilMs = 0
  #isClosed = false

  constructor(options: ReadSocketsOptions, clock: Pick<Clock, 'now'>) {
    this.#options = options
    this.#clock = clock
    const { protocol, hostname, port, host } = new URL(options.origin)
    const fields = Object.entries({ host, ...options.headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`
    )
    this.#head = `POST ${options.path} HTTP/1.1\r\n${fields.join('')}content-length: `
    const isTls = protocol === 'https:'
    const address = hostname.replace(/^\[|\]$/g, '')
    const place = { host: address, port: Number(port || (isTls ? 443 : 80)), noDelay: true, keepAlive: true }
    this.#connected = isTls ? 'secureConnect' : 'connect'
    const servername = isIP(address) === 0 ? { servername: address } : {}
    this.#open = () =>
      isTls ? connectTls({ ...place, ...servername, ALPNProtocols: ['http/1.1'] }) : connectPlain(place)
  }

  /** Whether reads may be sent. */
  get isOn(): boolean {
    return !this.#isClosed && this.#clock.now() >= this.#offUntilMs
  }

  /** Posts a read. `resend` is called instead of the answer's events if it must go to the complete client. */
  post(body: string, answer: AnswerBody, resend: () => void): void {
    const request = `${this.#head}${Buffer.byteLength(body)}\r\n\r\n${body}`
    const read = new SocketRead(request, answer, resend, this.#leave)
    const socket = this.#freeSocket() ?? (this.#all.size < this.#options.connections ? this.#add() : null)
    if (socket !== null) return socket.carry(read)
    this.#waiting.add(read)
    answer.onRequestStart(read)
  }

  /** Ends all connections; reads in flight fail. */
  close(): void {
    this.#isClosed = true
    const reason = new Error('the connections to the node were closed')
    for (const { answer } of this.#waiting) answer.onResponseError(null, reason)
    this.#waiting.clear()
    for (const socket of this.#all) socket.abort(reason)
  }

  readonly #leave = (read: SocketRead): void => void this.#waiting.delete(read)

  #freeSocket(): ReadSocket | null {
    for (;;) {
      const socket = this.#free.pop()
      if (socket === undefined) return null
      if (this.#clock.now() - socket.freeSinceMs < IDLE_MS) return socket
      // All others are idle for longer.
      socket.abort(new Error('idle'))
    }
  }

  #add(): ReadSocket {
    const { connectMs, stallMs } = this.#options
    const socket = new ReadSocket(this.#open(), this.#connected, { connectMs, stallMs }, this.#events)
    this.#all.add(socket)
    return socket
  }

  readonly #events: ReadSocketEvents = {
    free: (socket) => {
      const next = this.#takeWaiting()
      if (next !== null) return socket.carry(next)
      socket.freeSinceMs = this.#clock.now()
      this.#free.push(socket)
    },
    ended: (socket) => {
      this.#all.delete(socket)
      const at = this.#free.indexOf(socket)
      if (at >= 0) this.#free.splice(at, 1)
      if (this.#isClosed) return
      const next = this.#takeWaiting()
      if (next !== null) this.#add().carry(next)
    },
    unusual: () => {
      this.#offUntilMs = this.#clock.now() + OFF_MS
      for (const read of this.#waiting) read.resend()
      this.#waiting.clear()
    }
  }

  #takeWaiting(): SocketRead | null {
    const [next] = this.#waiting
    if (next === undefined) return null
    this.#waiting.delete(next)
    return next
  }
}
