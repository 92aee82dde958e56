import { WebSocket } from 'ws'
import type { NodeAddress } from '../../../src/node/node-address.ts'
import type { Clock } from '../../../src/ports.ts'
import { SUBSCRIPTION_ANSWER_MS } from '../../../src/kernel/time-limits.ts'
import {
  readNodeMessage,
  type NodeMessage,
  type NodeNotification
} from '../../../src/rpc/pubsub/node-message.ts'

/** Maximum bytes of one message of a node: twice the base64 of the largest account (10 MiB). */
const MESSAGE_BYTES_MAX = 32 * 2 ** 20

/** The answer of a node: the result, or the error as it wrote it. */
export type NodeReply = { readonly result: unknown; readonly error: string | null }

export interface NodeSocketEvents {
  notified(notification: NodeNotification): void
  /** An answer came to no request. */
  stray(): void
  /** Called once; no other call follows. The reason is in words, for the operator. */
  ended(reason: string): void
}

interface Waiting {
  readonly answered: (reply: NodeReply) => void
  readonly timer: unknown
}

/** One WebSocket to a node. Any fault of the node ends it: a message that cannot be read, or an answer that is late. */
export class NodeSocket {
  readonly #clock: Clock
  readonly #events: NodeSocketEvents
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, Waiting>()
  readonly #connecting: unknown
  #lastId = 0
  #isOver = false

  /** Connects. `opened` is called when it can be used. */
  constructor(address: NodeAddress, clock: Clock, events: NodeSocketEvents, opened: () => void) {
    this.#clock = clock
    this.#events = events
    const { origin, path, authorization, redact } = address
    this.#socket = new WebSocket(origin + path, {
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
      ...(authorization !== null && { headers: { authorization } })
    })
    this.#connecting = clock.setTimeout(() => this.#end(late('connect')), SUBSCRIPTION_ANSWER_MS)
    this.#socket.on('open', () => {
      clock.clearTimeout(this.#connecting)
      if (!this.#isOver) opened()
    })
    this.#socket.on('message', (data: Buffer) => this.#take(data))
    this.#socket.on('close', (code) => this.#end(`it closed the connection (${code})`))
    this.#socket.on('error', (error) => this.#end(redact(error.message)))
  }

  /** Requests without an answer. */
  get inFlight(): number {
    return this.#waiting.size
  }

  /** Sends a request; `params` is JSON. `answered` is called once, or never if the socket ends before. */
  call(method: string, params: string, answered: (reply: NodeReply) => void): void {
    if (this.#isOver) return
    const id = ++this.#lastId
    const timer = this.#clock.setTimeout(() => this.#end(late(method)), SUBSCRIPTION_ANSWER_MS)
    this.#waiting.set(id, { answered, timer })
    this.#socket.send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`)
  }

  /** Ends the connection without a word to its owner. */
  close(): void {
    this.#stop()
  }

  /** Ends the connection for a fault of the node. */
  fail(reason: string): void {
    this.#end(reason)
  }

  #take(data: Buffer): void {
    if (this.#isOver) return
    const message: NodeMessage | null = readNodeMessage(data)
    if (message === null) return this.#end('it sent a message that cannot be read')
    if (message.kind === 'notification') return this.#events.notified(message)
    const waiting = this.#waiting.get(message.id)
    if (waiting === undefined) return this.#events.stray()
    this.#waiting.delete(message.id)
    this.#clock.clearTimeout(waiting.timer)
    waiting.answered(message)
  }

  #end(reason: string): void {
    if (this.#isOver) return
    this.#stop()
    this.#events.ended(reason)
  }

  #stop(): void {
    this.#isOver = true
    this.#clock.clearTimeout(this.#connecting)
    for (const { timer } of this.#waiting.values()) this.#clock.clearTimeout(timer)
    this.#waiting.clear()
    this.#socket.terminate()
  }
}

const late = (what: string): string => `no answer to ${what} within ${SUBSCRIPTION_ANSWER_MS / 1_000} s`
