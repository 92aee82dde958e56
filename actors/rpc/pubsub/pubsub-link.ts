import { createActor, type ActorRefFrom } from 'xstate'
import { backoffMs, jittered } from '../../../machines/backoff.ts'
import {
  pubsubLinkMachine,
  type PubsubLinkContext,
  type PubsubLinkPolicy,
  type PubsubLinkState
} from '../../../machines/pubsub-link.machine.ts'
import type { NodeAddress } from '../../../src/node/node-address.ts'
import { sleep, type Ports } from '../../../src/ports.ts'
import type { NodeNotification } from '../../../src/rpc/pubsub/node-message.ts'
import { NodeSocket } from './node-socket.ts'
import type { SharedSubscription } from './shared-subscription.ts'

/** A node's restart takes minutes, and it is retried every 30 s. A client that returns finds the connection open. */
export const LINK_POLICY: PubsubLinkPolicy = {
  backoff: { floorMs: 500, ceilingMs: 30_000 },
  unusedMs: 60_000
}
/**
 * Maximum requests in flight on one connection. Nodes queue them, and a loss of 500 subscriptions is restored in two rounds.
 */
const IN_FLIGHT_MAX = 256
/** Maximum notifications that precede the answer to their subscription. Nodes write the answer first, or soon after. */
const EARLY_MAX = 1_000
/** Milliseconds without a slot after which a connection is dead: 75 slots; clusters rarely pause for longer. */
export const SILENCE_MS = 30_000
/** Slots that other nodes may be ahead of a connection before it counts as stalled: 13 s, as for a lagging node. */
const BEHIND_SLOTS = 32
/** Slots ahead of every node's newest one that show a false slot. 400 s of slots never come between two probes. */
const AHEAD_SLOTS = 1_000
const POLL_INTERVAL_MS = 1_000

export interface PubsubLinkEvents {
  /** A subscription that had no place may get one now. */
  changed(): void
  /** A slot notification of the node. */
  slot(link: PubsubLink, notification: NodeNotification): void
  failed(link: PubsubLink, reason: string): void
  stray(): void
}

/** A WebSocket to a node with its subscriptions. It connects when it is first used, and again after a failure. */
export class PubsubLink {
  readonly address: NodeAddress
  readonly #ports: Ports
  readonly #events: PubsubLinkEvents
  readonly #newest: () => number | null
  readonly #machine: ActorRefFrom<typeof pubsubLinkMachine>
  readonly #over = new AbortController()
  #socket: NodeSocket | null = null
  /** Subscriptions that wait for their request. */
  readonly #queue = new Set<SharedSubscription>()
  readonly #requested = new Set<SharedSubscription>()
  readonly #byId = new Map<number, SharedSubscription>()
  /** Ids whose end the node has not confirmed yet. */
  readonly #ending = new Set<number>()
  #early: NodeNotification[] = []
  #slotId: number | null = null
  #slot = -1
  #heardAtMs = 0

  /** `newest` is the newest slot of all nodes. */
  constructor(address: NodeAddress, ports: Ports, newest: () => number | null, events: PubsubLinkEvents) {
    this.address = address
    this.#ports = ports
    this.#events = events
    this.#newest = newest
    const actions = {
      connect: () => this.#connect(),
      disconnect: () => this.#disconnect(),
      ready: () => queueMicrotask(() => events.changed())
    }
    const delays = {
      backoff: ({ context }: { context: PubsubLinkContext }) =>
        jittered(backoffMs(context.policy.backoff, context.attempt), ports.random())
    }
    this.#machine = createActor(pubsubLinkMachine.provide({ actions, delays }), {
      clock: ports.clock,
      input: LINK_POLICY
    })
    this.#machine.start()
    void this.#watch()
  }

  get state(): PubsubLinkState {
    return this.#machine.getSnapshot().value
  }

  get size(): number {
    return this.#queue.size + this.#requested.size + this.#byId.size
  }

  /** The newest slot that the node has reported; -1 before the first. */
  get slot(): number {
    return this.#slot
  }

  get isOpen(): boolean {
    return this.state === 'open' || this.state === 'unused'
  }

  /** Requests a subscription from the node, once the connection is open. The subscription is notified of the outcome. */
  add(subscription: SharedSubscription): void {
    this.#queue.add(subscription)
    this.#machine.send({ type: 'wanted' })
    if (this.isOpen) this.#pump()
  }

  /** Ends a subscription at the node. */
  remove(subscription: SharedSubscription): void {
    this.#queue.delete(subscription)
    const { upstreamId } = subscription
    // A subscription whose request is in flight is ended when its answer comes.
    if (upstreamId !== null && this.#byId.delete(upstreamId)) this.#unsubscribe(subscription.kind, upstreamId)
    this.#noteUse()
  }

  /** Ends the connection as if the node had, so that its subscriptions go to other nodes. */
  fail(reason: string): void {
    this.#socket?.fail(reason)
  }

  close(): void {
    this.#over.abort()
    this.#machine.send({ type: 'closed' })
  }

  #connect(): void {
    const { clock } = this.#ports
    this.#heardAtMs = clock.now()
    const events = {
      notified: (notification: NodeNotification) => this.#notified(notification),
      stray: () => this.#events.stray(),
      ended: (reason: string) => this.#ended(reason)
    }
    const socket = new NodeSocket(this.address, clock, events, () => {
      socket.call('slotSubscribe', '[]', ({ result, error }) => {
        if (error !== null || typeof result !== 'number') return socket.fail('it refuses slotSubscribe')
        this.#slotId = result
        this.#machine.send({ type: 'opened' })
        this.#settleEarly()
        this.#noteUse()
        this.#pump()
        this.#events.changed()
      })
    })
    this.#socket = socket
  }

  #disconnect(): void {
    this.#socket?.close()
    this.#forget()
  }

  /** Requests subscriptions, as far as the window of requests allows. */
  #pump(): void {
    const socket = this.#socket!
    for (const subscription of this.#queue) {
      if (socket.inFlight >= IN_FLIGHT_MAX) return
      this.#queue.delete(subscription)
      if (subscription.kind === 'slot') {
        // Each connection has a slot subscription anyway; a second one would have its id.
        this.#byId.set(this.#slotId!, subscription)
        subscription.accepted(this.#slotId!)
        continue
      }
      this.#requested.add(subscription)
      socket.call(`${subscription.kind}Subscribe`, subscription.request.params, ({ result, error }) => {
        this.#requested.delete(subscription)
        this.#answered(subscription, result, error)
        this.#settleEarly()
        this.#noteUse()
        this.#pump()
      })
    }
  }

  #answered(subscription: SharedSubscription, result: unknown, error: string | null): void {
    if (error === null && !Number.isSafeInteger(result))
      return this.fail(`it answered ${subscription.kind}Subscribe without an id`)
    const id = result as number
    if (subscription.isOver) {
      if (error === null) this.#unsubscribe(subscription.kind, id)
      return
    }
    if (error !== null) return subscription.refused(error)
    if (id === this.#slotId || this.#byId.has(id)) return this.fail('it gave two subscriptions one id')
    this.#byId.set(id, subscription)
    subscription.accepted(id)
  }

  #unsubscribe(kind: SharedSubscription['kind'], id: number): void {
    if (kind === 'slot') return
    this.#ending.add(id)
    this.#socket?.call(`${kind}Unsubscribe`, `[${id}]`, () => {
      this.#ending.delete(id)
      this.#pump()
    })
  }

  #notified(notification: NodeNotification): void {
    const { subscription: id, slot, of } = notification
    const newest = this.#newest()
    if (newest !== null && slot > newest + AHEAD_SLOTS)
      return this.fail(`it reported slot ${slot}, far above ${newest}, the newest of all nodes`)
    if (of === 'slot' && (id === this.#slotId || this.#slotId === null)) {
      this.#heardAtMs = this.#ports.clock.now()
      this.#slot = Math.max(this.#slot, slot)
      this.#machine.send({ type: 'proven' })
      this.#events.slot(this, notification)
      if (this.#slotId === null) return
    }
    const subscription = this.#byId.get(id)
    if (subscription !== undefined) {
      if (of !== subscription.kind)
        return this.fail(`it sent a ${of}Notification to a subscription of another kind`)
      return subscription.notified(notification)
    }
    if (id === this.#slotId || this.#ending.has(id)) return
    if (this.#requested.size === 0) return this.#events.stray()
    if (this.#early.length >= EARLY_MAX) return this.fail('it sends notifications without a subscription')
    this.#early.push(notification)
  }

  /** Handles the notifications that came before the answer to their subscription. */
  #settleEarly(): void {
    if (this.#early.length === 0) return
    const early = this.#early
    this.#early = []
    for (const each of early) this.#notified(each)
  }

  #noteUse(): void {
    if (this.#queue.size + this.#requested.size + this.#byId.size === 0)
      this.#machine.send({ type: 'unused' })
  }

  #ended(reason: string): void {
    const lost = [...this.#queue, ...this.#requested, ...this.#byId.values()]
    this.#forget()
    this.#machine.send({ type: 'failed', reason })
    this.#events.failed(this, reason)
    for (const subscription of lost) subscription.lost()
    this.#events.changed()
  }

  #forget(): void {
    this.#socket = null
    this.#slotId = null
    this.#slot = -1
    this.#early = []
    this.#ending.clear()
    this.#queue.clear()
    this.#requested.clear()
    this.#byId.clear()
  }

  /** Ends the connection when it reports no slots although it should. */
  async #watch(): Promise<void> {
    const { clock } = this.#ports
    while (!this.#over.signal.aborted) {
      await sleep(clock, POLL_INTERVAL_MS, this.#over.signal)
      if (this.#socket === null) continue
      const silentMs = clock.now() - this.#heardAtMs
      const newest = this.#newest()
      const isBehind = newest !== null && this.#slot >= 0 && newest - this.#slot > BEHIND_SLOTS
      if (silentMs > SILENCE_MS) this.fail(`it has reported no slot for ${SILENCE_MS / 1_000} s`)
      else if (isBehind && silentMs > SILENCE_MS / 6)
        this.fail(`it is at slot ${this.#slot}, ${newest - this.#slot} behind`)
    }
  }
}
