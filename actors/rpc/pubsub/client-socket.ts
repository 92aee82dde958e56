import type { Caller } from '../../../src/access/caller.ts'
import { COMMITMENTS } from '../../../src/rpc/commitment.ts'
import { answerFrame, type ClientFrame } from '../../../src/rpc/pubsub/client-frame.ts'
import { IDLE_MS, PINGS_MISSED_MAX, FREE_MESSAGES_MAX } from '../../../src/rpc/pubsub/socket-limits.ts'
import type { SubscriptionRequest } from '../../../src/rpc/pubsub/subscription-request.ts'
import type { SlotFloors } from '../../../src/rpc/slot-floors.ts'
import type { Pipe } from '../../stream/pipe.ts'
import { ClientQueue, type ClientQueues } from './client-queue.ts'
import { ClientRequests, type RequestDeps } from './client-requests.ts'
import type { ClientSubscription, SubscriptionOwner } from './client-subscription.ts'

export interface ClientSocketDeps extends RequestDeps {
  readonly queues: ClientQueues
  readonly floors: Pick<SlotFloors, 'saw'>
  /** Counts the close code of a connection that the service closes. */
  readonly countClose: (code: number) => void
}

/**
 * One client's RPC socket: its requests, its subscriptions, and its queue of messages.
 *
 * R1. Answers and notifications are sent whole and in order, or the connection is closed: no message is dropped.
 * R2. A subscription's id is sent before its first notification.
 * R3. A fault of a client closes only its own connection.
 */
export class ClientSocket implements SubscriptionOwner {
  /** The key as it is now: its scopes and rate hold for the next request. */
  caller: Caller
  readonly #pipe: Pipe
  readonly #deps: ClientSocketDeps
  readonly #queue: ClientQueue
  readonly #requests: ClientRequests
  readonly #subscriptions = new Map<number, ClientSubscription>()
  readonly #end = new AbortController()
  /** The newest slot that the client has seen, in the order of COMMITMENTS. */
  readonly #seen = [-1, -1, -1]
  #activeAtMs: number
  /** Whether a message came or went since the last sweep. */
  #isActive = false
  #pingsMissed = 0
  #freeMessages = 0
  #lastId = 0

  /** `pause` stops and starts the reading of messages. */
  constructor(pipe: Pipe, caller: Caller, pause: (isPaused: boolean) => void, deps: ClientSocketDeps) {
    this.caller = caller
    this.#pipe = pipe
    this.#deps = deps
    this.#activeAtMs = deps.clock.now()
    this.#queue = new ClientQueue(pipe, deps.queues, () => this.close(4408, 'messages are not read'))
    this.#requests = new ClientRequests(
      {
        caller: () => this.caller,
        owner: this,
        subscriptions: this.#subscriptions,
        nextId: () => ++this.#lastId,
        send: (text) => this.#answer(text),
        pause,
        flooded: () => this.close(4429, 'too many messages'),
        free: () => this.#countFree(),
        signal: this.#end.signal
      },
      deps
    )
  }

  get isClosed(): boolean {
    return this.#end.signal.aborted
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  /** Unsent bytes. */
  get queuedBytes(): number {
    return this.#queue.bytes
  }

  receive(message: Buffer): void {
    if (this.isClosed) return
    this.#pingsMissed = 0
    this.#isActive = true
    this.#requests.receive(message)
  }

  ponged(): void {
    this.#pingsMissed = 0
  }

  drained(): void {
    this.#queue.drained()
  }

  /** Pings the client, or closes the connection if it answered none of the last pings, or was idle for too long. */
  ping(): void {
    this.#noteActivity()
    if (this.#deps.clock.now() - this.#activeAtMs >= IDLE_MS) return this.close(4408, 'idle')
    // A client whose messages are not read now cannot answer.
    if (this.#requests.isPaused) return
    if (this.#pingsMissed >= PINGS_MISSED_MAX) return this.close(4408, 'no answer to pings')
    this.#pingsMissed++
    this.#pipe.ping()
  }

  /** To be called twice a second. */
  sweep(): void {
    this.#freeMessages = 0
    this.#noteActivity()
  }

  give(frame: ClientFrame): void {
    this.#isActive = true
    this.#queue.push(frame)
  }

  sees({ kind, commitment }: SubscriptionRequest, slot: number): void {
    const at = COMMITMENTS.indexOf(commitment)
    // A node reports a slot before it has processed it, and a root before a majority has it too.
    if (kind === 'slot' || kind === 'root' || slot <= this.#seen[at]!) return
    this.#seen[at] = slot
    this.#deps.floors.saw(this.caller.keyId, commitment, slot)
  }

  forget({ id }: ClientSubscription): void {
    this.#subscriptions.delete(id)
  }

  overflowed(): void {
    this.close(4408, 'messages are not read')
  }

  close(code: number, reason: string): void {
    if (this.isClosed) return
    this.#deps.countClose(code)
    // A drain sends the answers that are ready.
    this.#queue.flush()
    this.closed()
    this.#pipe.close(code, reason)
  }

  /** To be called when the socket is closed. */
  closed(): void {
    if (this.isClosed) return
    this.#end.abort()
    this.#queue.end()
    const subscriptions = [...this.#subscriptions.values()]
    this.#subscriptions.clear()
    for (const each of subscriptions) each.leave()
  }

  #answer(text: Buffer): void {
    this.#isActive = true
    this.#queue.push(answerFrame(text))
  }

  #noteActivity(): void {
    if (!this.#isActive) return
    this.#isActive = false
    this.#activeAtMs = this.#deps.clock.now()
  }

  #countFree(): void {
    if (++this.#freeMessages > FREE_MESSAGES_MAX) this.close(4429, 'too many messages')
  }
}
