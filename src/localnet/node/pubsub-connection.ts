import type { WebSocket } from 'ws'
import type { Clock } from '../../ports.ts'
import { answer, type Run } from './json-rpc.ts'
import { writeJson } from './json.ts'
import { paramsOf } from './method.ts'
import { nodeVersion } from './methods/cluster.ts'
import { u64Of } from './params.ts'
import { internalError, invalidParams, methodNotFound } from './rpc-error.ts'
import type { Subscriber, SubscriptionHub } from './subscription-hub.ts'
import { SUBSCRIPTIONS, type Topic } from './subscription.ts'

export interface PubsubLimits {
  /** Maximum number of subscriptions of one connection; a further one is refused with -32603, like Agave's limit. */
  readonly subscriptionsMax: number
  /**
   * Maximum number of unsent bytes of a connection; above it the connection is closed with 1013, because it would miss
   * messages.
   */
  readonly owedBytesMax: number
  /** Interval of pings in milliseconds; a client that has not answered the last one is cut off. */
  readonly pingMs: number
}

export const PUBSUB_LIMITS: PubsubLimits = {
  subscriptionsMax: 1_000,
  owedBytesMax: 16 * 1024 * 1024,
  pingMs: 30_000
}

const TRY_AGAIN_LATER = 1013

const SUBSCRIBE = /^([a-z]+)(Subscribe|Unsubscribe)$/

/** One socket: answers its requests in order, and ends its subscriptions when it closes. */
export class PubsubConnection implements Subscriber {
  readonly #socket: WebSocket
  readonly #hub: SubscriptionHub
  readonly #clock: Clock
  readonly #limits: PubsubLimits
  readonly #ids = new Set<number>()
  #timer: unknown
  #answered = true
  #open = true

  constructor(socket: WebSocket, hub: SubscriptionHub, clock: Clock, limits: PubsubLimits) {
    this.#socket = socket
    this.#hub = hub
    this.#clock = clock
    this.#limits = limits
    socket.on('message', (data: Buffer) => this.#take(data.toString()))
    socket.on('pong', () => (this.#answered = true))
    socket.on('close', () => this.#close())
    // An error of a socket is followed by its close.
    socket.on('error', () => undefined)
    this.#wait()
  }

  send(text: string): void {
    if (!this.#open) return
    this.#socket.send(text)
    if (this.#socket.bufferedAmount <= this.#limits.owedBytesMax) return
    this.#close()
    this.#socket.close(TRY_AGAIN_LATER, 'too far behind')
    // A close frame would wait behind the unread bytes.
    this.#socket.terminate()
  }

  ended(id: number): void {
    this.#ids.delete(id)
  }

  /** Handles a message. Subscriptions made by it get missed notifications after its answer. */
  #take(message: string): void {
    const made: number[] = []
    const text = answer(message, this.#runner(made))
    if (text !== null) this.send(text)
    for (const id of made) this.#hub.catchUp(id)
  }

  #runner(made: number[]): Run {
    return (name, params) => {
      if (name === 'getVersion') return writeJson(nodeVersion())
      const [, kind = '', verb] = SUBSCRIBE.exec(name) ?? []
      if (!Object.hasOwn(SUBSCRIPTIONS, kind)) throw methodNotFound()
      if (verb === 'Unsubscribe') return this.#unsubscribe(params)
      const id = this.#subscribe(kind as Topic['kind'], params)
      made.push(id)
      return String(id)
    }
  }

  #subscribe(kind: Topic['kind'], params: unknown): number {
    const { required, most, read } = SUBSCRIPTIONS[kind]
    const request = read(paramsOf({ required, most, run: () => null }, params))
    if (this.#ids.size >= this.#limits.subscriptionsMax) {
      throw internalError('Internal Error: Subscription refused. Node subscription limit reached')
    }
    const id = this.#hub.subscribe(request, this)
    this.#ids.add(id)
    return id
  }

  #unsubscribe(params: unknown): string {
    const [given] = paramsOf({ required: 1, most: 1, run: () => null }, params)
    const id = Number(u64Of(given))
    if (!this.#ids.delete(id)) throw invalidParams('Invalid subscription id.')
    this.#hub.unsubscribe(id, this)
    return 'true'
  }

  #wait(): void {
    this.#timer = this.#clock.setTimeout(() => {
      if (!this.#answered) return this.#socket.terminate()
      this.#answered = false
      this.#socket.ping()
      this.#wait()
    }, this.#limits.pingMs)
  }

  #close(): void {
    if (!this.#open) return
    this.#open = false
    this.#clock.clearTimeout(this.#timer)
    for (const id of this.#ids) this.#hub.unsubscribe(id, this)
    this.#ids.clear()
  }
}
