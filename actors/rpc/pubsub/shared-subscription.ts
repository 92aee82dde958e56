import { hash } from 'node:crypto'
import { compiled } from '../../../machines/compiled.ts'
import {
  rpcSubscriptionMachine,
  type RpcSubscriptionEvent,
  type RpcSubscriptionState
} from '../../../machines/rpc-subscription.machine.ts'
import { resultOf, type GapResult } from '../../../src/rpc/pubsub/gap-answers.ts'
import type { NodeNotification } from '../../../src/rpc/pubsub/node-message.ts'
import { rawMember } from '../../../src/rpc/pubsub/raw-json.ts'
import { SharedNotification } from '../../../src/rpc/pubsub/shared-notification.ts'
import type { SubscriptionKind, SubscriptionRequest } from '../../../src/rpc/pubsub/subscription-request.ts'

/** A connection to a node, as a subscription on it sees it. */
export interface SubscriptionLink {
  readonly address: { readonly name: string }
  add(subscription: SharedSubscription): void
  remove(subscription: SharedSubscription): void
}

/** A client's subscription. No method may throw. */
export interface Member {
  /** The node has the subscription: the client is answered, and receives all notifications from now on. */
  accepted(): void
  /** `error` is the JSON of the error. */
  refused(error: string): void
  notify(notification: SharedNotification, slot: number): void
  /** Its last notification was sent. */
  ended(): void
}

export interface SharedSubscriptionEvents {
  /** No connection has it any more: it must be placed again. */
  waits(subscription: SharedSubscription): void
  /** A node has refused a subscription that no client has yet. Returns whether another node may be tried. */
  refused(subscription: SharedSubscription): boolean
  /** Requests a read of the changes since its last notification. */
  gap(subscription: SharedSubscription): void
  ended(subscription: SharedSubscription): void
  /** A node has it, and no client waits for it any more. */
  live(subscription: SharedSubscription): void
  count(what: 'sent' | 'stale' | 'repeated' | 'read', clients: number): void
}

/** Maximum remembered notifications of one slot. A mainnet block has about 4,000 transactions. */
const SENT_MAX = 20_000

const SUBSCRIPTION_TABLE = compiled(rpcSubscriptionMachine)

/**
 * One subscription at a node for all clients that request it.
 *
 * U1. No client sees a slot below an earlier one.
 * U2. After a loss, nothing that was sent before is sent again.
 */
export class SharedSubscription {
  readonly request: SubscriptionRequest
  readonly #events: SharedSubscriptionEvents
  readonly #members = new Set<Member>()
  readonly #waiting = new Set<Member>()
  /** Names of nodes that refuse it. */
  readonly refusedBy = new Set<string>()
  #machine = SUBSCRIPTION_TABLE.initial
  #link: SubscriptionLink | null = null
  upstreamId: number | null = null
  #lastSlot = -1
  /** The hash of the last value of an account; null before the first. */
  #lastValue: string | null = null
  /** Marks of the notifications of the last slot, for transactions and accounts of programs. */
  readonly #sent = new Set<string>()
  /** The last slot that was sent before the loss. */
  #slotOfLoss = -1

  constructor(request: SubscriptionRequest, events: SharedSubscriptionEvents) {
    this.request = request
    this.#events = events
  }

  get kind(): SubscriptionKind {
    return this.request.kind
  }

  get state(): RpcSubscriptionState {
    return this.#machine.value
  }

  get isOver(): boolean {
    return this.#machine.status === 'done'
  }

  get link(): SubscriptionLink | null {
    return this.#link
  }

  /** The slot of the newest notification; -1 before the first. */
  get lastSlot(): number {
    return this.#lastSlot
  }

  get losses(): number {
    return this.#machine.context.losses
  }

  /** Clients that have it. */
  get size(): number {
    return this.#members.size
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  /** Adds a client: it is accepted at once, or when a node has the subscription. */
  join(member: Member): void {
    if (this.state !== 'live' && this.state !== 'recovering') return void this.#waiting.add(member)
    this.#members.add(member)
    member.accepted()
  }

  leave(member: Member): void {
    this.#members.delete(member)
    this.#waiting.delete(member)
    if (this.#members.size + this.#waiting.size === 0) this.#end()
  }

  /** Refuses the clients that still wait. */
  giveUp(error: string): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const member of waiting) member.refused(error)
    if (this.#members.size === 0) this.#end()
  }

  place(link: SubscriptionLink): void {
    this.#link = link
    this.#change({ type: 'placed' })
    link.add(this)
  }

  /** To be called by the connection when the node has it. */
  accepted(upstreamId: number): void {
    if (this.isOver) return
    this.upstreamId = upstreamId
    this.#change({ type: 'accepted' })
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const member of waiting) this.#members.add(member)
    for (const member of waiting) member.accepted()
    this.#events.live(this)
    if (this.state === 'recovering') this.#events.gap(this)
  }

  /** To be called by the connection when the node refuses it. */
  refused(error: string): void {
    if (this.isOver) return
    this.refusedBy.add(this.#link!.address.name)
    this.#leaveLink()
    const isLost = !this.#machine.context.wasLive && this.#events.refused(this)
    this.#change({ type: isLost ? 'lost' : 'refused' })
    if (this.state === 'waiting') return this.#events.waits(this)
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const member of waiting) member.refused(error)
    this.#events.ended(this)
  }

  /** To be called by the connection when it has ended. */
  lost(): void {
    if (this.isOver) return
    this.#leaveLink()
    this.#slotOfLoss = this.#lastSlot
    this.#change({ type: 'lost' })
    this.#events.waits(this)
  }

  /** Sends a notification of the node to all clients, unless it is older than the last one, or was sent before. */
  notified({ slot, result, value }: NodeNotification): void {
    if (this.isOver) return
    if (slot < this.#lastSlot) return this.#events.count('stale', 1)
    const mark = this.#markOf(slot, result, value)
    if (this.#isRepeated(slot, mark)) return this.#events.count('repeated', 1)
    this.#remember(slot, mark)
    this.#send(slot, result)
    if (this.kind === 'signature' && value !== 'receivedSignature') this.#finish()
  }

  /**
   * Sends the result of a read after a gap: an account's state, unless it was the last one sent, or a signature's outcome.
   */
  read(found: GapResult | null): void {
    if (this.state !== 'recovering') return
    this.#change({ type: 'gap.read' })
    if (found === null) return
    const { slot, value } = found
    if (this.kind === 'signature') {
      this.#events.count('read', 1)
      this.#send(slot, resultOf(found))
      return this.#finish()
    }
    const mark = hash('sha1', value)
    if (slot < this.#lastSlot || mark === this.#lastValue) return
    this.#events.count('read', 1)
    this.#remember(slot, mark)
    this.#send(slot, resultOf(found))
  }

  /** To be called when the gap could not be read. */
  unreadable(): void {
    this.#change({ type: 'gap.unreadable' })
  }

  /** Whether the account was last seen in a state that a client knows. */
  get hasValue(): boolean {
    return this.#lastValue !== null
  }

  /** Tells notifications of one slot apart. */
  #markOf(slot: number, result: Buffer, value: unknown): string | null {
    switch (this.kind) {
      case 'account':
        return hash('sha1', valueIn(result, slot))
      case 'logs':
        return (value as { readonly signature: string }).signature
      case 'program':
        return (value as { readonly pubkey: string }).pubkey
      default:
        return null
    }
  }

  #isRepeated(slot: number, mark: string | null): boolean {
    if (this.kind === 'root') return slot === this.#lastSlot
    // A node may report one slot twice: once for each fork that has it.
    if (slot !== this.#slotOfLoss || slot !== this.#lastSlot) return false
    if (this.kind === 'account') return mark === this.#lastValue
    return mark === null ? this.kind === 'slot' : this.#sent.has(mark)
  }

  #remember(slot: number, mark: string | null): void {
    if (this.kind === 'account') this.#lastValue = mark
    else if (mark !== null) {
      if (slot > this.#lastSlot) this.#sent.clear()
      if (this.#sent.size < SENT_MAX) this.#sent.add(mark)
    }
    this.#lastSlot = slot
  }

  #send(slot: number, result: Buffer): void {
    const notification = new SharedNotification(this.kind, result)
    this.#events.count('sent', this.#members.size)
    for (const member of this.#members) member.notify(notification, slot)
  }

  #finish(): void {
    const members = [...this.#members]
    this.#members.clear()
    for (const member of members) member.ended()
    this.#leaveLink()
    this.#change({ type: 'ended' })
    this.#events.ended(this)
  }

  #end(): void {
    if (this.isOver) return
    this.#change({ type: 'ended' })
    const link = this.#link
    this.#link = null
    link?.remove(this)
    this.#events.ended(this)
  }

  #leaveLink(): void {
    if (this.kind === 'signature' && this.upstreamId !== null) this.#link?.remove(this)
    this.#link = null
    this.upstreamId = null
  }

  #change(event: RpcSubscriptionEvent): void {
    this.#machine = SUBSCRIPTION_TABLE.next(this.#machine, event)
  }
}

/** Returns the bytes of the value of a result: found at once in the usual layout, else by a scan. */
function valueIn(result: Buffer, slot: number): Buffer {
  const head = `{"context":{"slot":${slot}},"value":`
  if (result.toString('latin1', 0, head.length) === head) return result.subarray(head.length, -1)
  return rawMember(result, 'value')!
}
