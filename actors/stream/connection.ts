import { compiled } from '../../machines/compiled.ts'
import {
  connectionMachine,
  type ConnectionEvent,
  type ConnectionState
} from '../../machines/connection.machine.ts'
import type { Caller } from '../../src/access/caller.ts'
import {
  channelsOf,
  isOfChanges,
  isReplayed,
  permittedChannels,
  streamChannelOf,
  type StreamChannel
} from '../../src/stream/channel.ts'
import { shownHead } from '../../src/market/cursor.ts'
import * as messages from '../../src/stream/messages.ts'
import { MESSAGE_BYTES_MAX } from '../../src/stream/message-bound.ts'
import { CHANNELS_MAX, type ErrorName, type SubscribeMessage } from '../../src/stream/messages.ts'
import type { ChangeBatch } from '../../src/transactions/change-batch.ts'
import { selectedFault } from '../../src/stream/selected-fields.ts'
import { chargeChannels } from './charged-channels.ts'
import { ConnectionChannels, namesOf, type ChannelsOwner } from './connection-channels.ts'
import { MessageQueue } from './message-queue.ts'
import { MESSAGES_A_SECOND, MESSAGES_AT_ONCE, MessageRate } from './message-rate.ts'
import type { Pipe } from './pipe.ts'
import { Sender } from './sender.ts'
import type { StreamDeps } from './stream-deps.ts'

/** Pings without an answer after which the client counts as gone (src/docs/stream.md). */
const PINGS_MISSED_MAX = 2
/**
 * Consecutive messages outside the protocol, each answered with `invalid_json`, after which the connection is closed. As
 * many as may come at once: a person who tries messages sends fewer, and a program that ignores a hundred errors is broken.
 */
export const INVALID_MESSAGES_MAX = MESSAGES_AT_ONCE
const TOO_MANY = `a connection may send ${MESSAGES_A_SECOND} messages a second, and ${MESSAGES_AT_ONCE} at once; some were not read`

/** Shared by all connections; an actor for each would cost 3.6 KB a connection. */
const CONNECTION_TABLE = compiled(connectionMachine)

/**
 * One client's socket with its messages, its channels, and the queue of events to send. Blocks are written as they come,
 * all events of a block in one write. Bytes that the socket does not accept wait in the bounded outbox.
 */
export class StreamConnection implements ChannelsOwner {
  #caller: Caller
  readonly #pipe: Pipe
  readonly #deps: StreamDeps
  readonly #sender: Sender
  readonly #channels: ConnectionChannels
  readonly #rate = new MessageRate()
  #machine = CONNECTION_TABLE.initial
  #isClosed = false
  readonly #messages: MessageQueue
  #pingsMissed = 0
  /** Invalid messages since the last valid one. */
  #invalid = 0

  constructor(pipe: Pipe, caller: Caller, deps: StreamDeps) {
    this.#pipe = pipe
    this.#caller = caller
    this.#deps = deps
    this.#sender = new Sender(pipe, deps.room, {
      overflowed: () => this.change({ type: 'overflowed' }),
      emptied: () => this.change({ type: 'queue.emptied' }),
      unread: () => this.close(4408, 'messages are not read')
    })
    this.#channels = new ConnectionChannels(this, this.#sender, deps)
    this.#messages = new MessageQueue((begin) => deps.replays.turn(this.#caller.tenant, begin))
  }

  /** The key as it is now. */
  get caller(): Caller {
    return this.#caller
  }

  get state(): ConnectionState {
    return this.#machine.value
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get subscriptions(): number {
    return this.#channels.size
  }

  /** Events queued now. `dropped` and `events` count since the connection was opened. */
  get owed(): number {
    return this.#sender.owed
  }

  get dropped(): number {
    return this.#sender.dropped
  }

  get events(): number {
    return this.#sender.events
  }

  open(): void {
    const { hub, horizon, clock } = this.#deps
    this.#send(messages.hello(this.caller.tenant, shownHead(hub.head), horizon.place, clock.now()))
    this.change({ type: 'opened' })
  }

  /**
   * Handles a message of the client; `size` is its length in bytes. `text` is null if it is not text or too long. Messages
   * are handled one after another.
   */
  receive(text: string | null, size: number): void {
    if (this.isClosed) return
    this.#pingsMissed = 0
    switch (this.#rate.take(this.#deps.clock.now())) {
      case 'read':
        return this.#messages.add(
          async () => (this.isClosed ? undefined : this.#handle(text, size)),
          (fault) => this.fail(fault, 'internal error')
        )
      case 'refuse':
        return this.#error('rate_limited', TOO_MANY)
      case 'ignore':
        return
      case 'close':
        return this.close(4429, 'too many messages')
    }
  }

  async #handle(text: string | null, size: number): Promise<void> {
    if (size > MESSAGE_BYTES_MAX) {
      this.#error(
        'message_too_large',
        `a message has ${MESSAGE_BYTES_MAX} bytes at most; this one has ${size}`
      )
      return this.close(1009, 'message too long')
    }
    if (text === null) return this.#invalidMessage('messages are JSON text, not binary')
    const message = messages.readMessage(text)
    if (message.kind === 'fault') return this.#invalidMessage(message.message)
    this.#invalid = 0
    switch (message.kind) {
      case 'ping':
        return this.#send(messages.PONG)
      case 'unsubscribe':
        return this.#unsubscribe(message.names)
      case 'subscribe':
        return this.#subscribe(message)
    }
  }

  /** Sends an event of a private channel without a past, if the client has subscribed to it. */
  publish(channel: string, body: Uint8Array): void {
    this.#channels.publish(channel, body)
  }

  /** Tells whether the client has subscribed to a private channel without a past. */
  has(channel: string): boolean {
    return this.#channels.has(channel)
  }

  /** Sends changes of the tenant's submissions that were stored just now, if the client has subscribed to them. */
  hear(batch: ChangeBatch): void {
    this.#channels.hear(batch)
  }

  /** Reads changes of the tenant's submissions from the store that were not announced. */
  lookForChanges(): void {
    this.#channels.lookForChanges()
  }

  /** Applies a change of the key: channels whose scope it has lost are removed, with an error that names them. */
  follow(caller: Caller): void {
    this.#caller = caller
    if (this.isClosed) return
    for (const [scope, names] of permittedChannels(this.#channels.all, caller.scopes).lacking) {
      this.#channels.unsubscribe(names)
      this.#send(messages.scopeMissing(scope, names, 'no longer has'))
    }
  }

  /** To be called when the socket has sent everything that it was given. */
  drained(): void {
    this.#sender.drained()
  }

  ponged(): void {
    this.#pingsMissed = 0
  }

  /** Pings the client, or closes the connection if it has answered none of the last pings. */
  ping(): void {
    if (this.#pingsMissed >= PINGS_MISSED_MAX) return this.close(4408, 'no answer to pings')
    this.#pingsMissed++
    this.#pipe.ping()
  }

  /** Tells the client that the service stops and when to reconnect, then closes the connection. */
  drain(retryAfterMs: number): void {
    if (this.isClosed) return
    this.change({ type: 'drain' })
    this.#send(messages.serverDraining(retryAfterMs))
    this.close(1001, 'the service is stopping')
  }

  close(code: number, reason: string): void {
    if (this.isClosed) return
    this.#stop()
    this.#pipe.close(code, reason)
  }

  /** To be called when the socket is closed. */
  closed(): void {
    this.#stop()
    this.change({ type: 'closed' })
  }

  #stop(): void {
    if (this.isClosed) return
    this.#isClosed = true
    this.#channels.end()
    this.#sender.end()
  }

  async #subscribe({ names, since, fields }: SubscribeMessage): Promise<void> {
    const { channels, refused } = channelsOf(names, streamChannelOf)
    for (const { code, message, names: wrong } of refused) this.#error(code, message, wrong)
    if (since === 'invalid') {
      const message = 'since is not a cursor: send an integer, or its decimal text'
      return this.#error('invalid_cursor', message, names)
    }
    const fieldsFault = this.#fieldsFault(fields, channels)
    if (fieldsFault !== null) return this.#error('invalid_fields', fieldsFault, names)
    const requested = channels.filter(
      (channel) => typeof since === 'number' || !this.#channels.has(channel.name)
    )
    const added = requested.filter(({ name }) => !this.#channels.has(name)).map(({ name }) => name)
    const { within, beyond } = this.#channels.withinLimit(this.#permitted(requested))
    if (beyond.length > 0)
      this.#error('channel_limit', `a connection has ${CHANNELS_MAX} channels at most`, namesOf(beyond))
    const { allowed, refused: excess, reason } = await chargeChannels(this.caller, within, this.#deps)
    if (excess.length > 0) this.#error('rate_limited', reason, namesOf(excess))
    const changesAfter =
      typeof since !== 'number' && allowed.some(isOfChanges) ? await this.#channels.newestChange() : null
    if (this.isClosed || channels.length === 0) return
    // The key may have changed meanwhile.
    const taken = this.#permitted(allowed)
    const past = typeof since === 'number' ? taken.filter(isReplayed) : []
    const live = taken.filter((channel) => !namesOf(past).includes(channel.name))
    this.#channels.subscribe(live, past, taken.some(isOfChanges) ? changesAfter : null)
    this.#channels.select(
      namesOf(fields === undefined ? taken : channels),
      typeof fields === 'object' ? fields : null
    )
    const isNew = added.filter((name) => this.#channels.has(name))
    this.#send(
      messages.subscribed(
        this.#channels.names,
        isNew,
        since,
        past.length > 0,
        this.#channels.shownCursor,
        typeof fields === 'object' ? fields : null
      )
    )
    if (typeof since !== 'number') return
    if (live.length > 0) this.#send(messages.replayNotSupported(namesOf(live)))
    if (past.length > 0) this.#channels.replay(past, since)
    else if (live.length > 0) this.#send(messages.replayComplete(this.#channels.shownCursor, namesOf(live)))
  }

  /** Returns why fields are refused; null if they are not. Channels that were refused are not subscribed to. */
  #fieldsFault(fields: SubscribeMessage['fields'], channels: readonly StreamChannel[]): string | null {
    if (fields === 'invalid') return 'fields must be a list of names'
    return fields == null || channels.length === 0 ? null : selectedFault(fields, channels)
  }

  /** Returns the channels whose scope the key has; the others cost nothing. */
  #permitted(channels: readonly StreamChannel[]): StreamChannel[] {
    const { permitted, lacking } = permittedChannels(channels, this.caller.scopes)
    for (const [scope, names] of lacking) this.#send(messages.scopeMissing(scope, names, 'lacks'))
    return permitted
  }

  #unsubscribe(names: readonly string[]): void {
    this.#send(messages.unsubscribed(this.#channels.unsubscribe(names)))
  }

  /** Moves the connection's machine, unless it has ended. */
  change(event: ConnectionEvent): void {
    this.#machine = CONNECTION_TABLE.next(this.#machine, event)
  }

  /** Reports a fault, and closes the connection with 1011. */
  fail(fault: unknown, reason: string): void {
    this.#deps.report(fault)
    this.close(1011, reason)
  }

  #send(message: object): void {
    this.#sender.message(message)
  }

  #error(code: ErrorName, message: string, channels?: readonly string[]): void {
    this.#send(messages.errorMessage(code, message, channels))
  }

  #invalidMessage(detail: string): void {
    this.#error('invalid_json', detail)
    if (++this.#invalid >= INVALID_MESSAGES_MAX) this.close(4400, 'too many invalid messages')
  }
}
