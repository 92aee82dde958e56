import PQueue from 'p-queue'
import { initialTransition, transition } from 'xstate'
import {
  connectionMachine,
  type ConnectionEvent,
  type ConnectionState
} from '../../machines/connection.machine.ts'
import type { Caller } from '../../src/access/caller.ts'
import {
  channelsOf,
  isOfChanges,
  isPrivate,
  isReplayed,
  streamChannelOf,
  type ReplayedChannel,
  type StreamChannel
} from '../../src/stream/channel.ts'
import { shownHead } from '../../src/market/cursor.ts'
import { eventFrames, type Frames } from '../../src/stream/frames.ts'
import type { Reader } from '../../src/stream/hub.ts'
import * as messages from '../../src/stream/messages.ts'
import { CHANNELS_MAX, MESSAGE_BYTES_MAX, type ErrorName, type Since } from '../../src/stream/messages.ts'
import { MergedPast, type PastReader } from '../../src/stream/merged-past.ts'
import type { ChangeBatch } from '../../src/transactions/change-batch.ts'
import { catchUp } from './catch-up.ts'
import { LiveChanges } from './live-changes.ts'
import { MESSAGES_A_SECOND, MESSAGES_AT_ONCE, MessageRate } from './message-rate.ts'
import type { Pipe } from './pipe.ts'
import { Sender } from './sender.ts'
import type { StreamDeps } from './stream-deps.ts'
import { Subscriptions, type Group } from './subscriptions.ts'

/** Pings without an answer after which the client counts as gone (spec choices, section 6). */
const PINGS_MISSED_MAX = 2
const TOO_MANY = `a connection may send ${MESSAGES_A_SECOND} messages a second, and ${MESSAGES_AT_ONCE} at once; some were not read`

/** The initial state, shared by all connections; an actor for each would cost 3.6 KB a connection. */
const [OPENING] = initialTransition(connectionMachine)

/**
 * One client's socket with its subscriptions, their positions, and the queue of events to send.
 *
 * S1. Each event of a subscription is queued once, in cursor order, whether it comes from the store or from the
 *     hub.
 * S2. Blocks are written as they come, all events of a block in one write; what the socket does not accept waits
 *     in the bounded outbox.
 * S3. A replay reads from the store when the outbox is nearly empty.
 */
export class StreamConnection implements Reader {
  readonly caller: Caller
  readonly #pipe: Pipe
  readonly #deps: StreamDeps
  readonly #sender: Sender
  readonly #subscriptions: Subscriptions
  readonly #rate = new MessageRate()
  #machine = OPENING
  readonly #end = new AbortController()
  /** Frames of the block that is being published; null where it has none for this client. */
  #block: Frames[] | null = null
  /** Messages of the client; null while there are none, since a queue takes 0.9 KB. */
  #messages: PQueue | null = null
  #pingsMissed = 0
  /** Sends changes of the tenant's submissions; null without that channel, and while it is replayed. */
  #changes: LiveChanges | null = null

  constructor(pipe: Pipe, caller: Caller, deps: StreamDeps) {
    this.#pipe = pipe
    this.caller = caller
    this.#deps = deps
    this.#subscriptions = new Subscriptions(deps.hub, this)
    this.#sender = new Sender(pipe, deps.room, {
      overflowed: () => this.#change({ type: 'overflowed' }),
      emptied: () => this.#change({ type: 'queue.emptied' }),
      unread: () => this.close(4408, 'messages are not read')
    })
  }

  get state(): ConnectionState {
    return this.#machine.value
  }

  get isClosed(): boolean {
    return this.#end.signal.aborted
  }

  get subscriptions(): number {
    return this.#subscriptions.size
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
    this.#change({ type: 'opened' })
  }

  /** Handles a message of the client; `size` is its length in bytes. Messages are handled one after another. */
  receive(text: string | null, size: number): void {
    if (this.isClosed) return
    this.#pingsMissed = 0
    switch (this.#rate.take(this.#deps.clock.now())) {
      case 'read':
        return this.#inTurn(() => this.#handle(text, size))
      case 'refuse':
        return this.#error('rate_limited', TOO_MANY)
      case 'ignore':
        return
      case 'close':
        return this.close(4429, 'too many messages')
    }
  }

  async #handle(text: string | null, size: number): Promise<void> {
    if (size > MESSAGE_BYTES_MAX)
      return this.#error('message_too_large', `a message has ${MESSAGE_BYTES_MAX} bytes at most`)
    if (text === null) return this.#error('invalid_json', 'messages are JSON text, not binary')
    const message = messages.readMessage(text)
    switch (message.kind) {
      case 'ping':
        return this.#send(messages.PONG)
      case 'fault':
        return this.#error('invalid_json', message.message)
      case 'unsubscribe':
        return this.#unsubscribe(message.names)
      case 'subscribe':
        return this.#subscribe(message.names, message.since)
    }
  }

  owe(frames: Frames): void {
    // Most blocks have one frame for a client: a literal list has room for one, a list grown by `push` for seventeen.
    if (this.#block === null) this.#block = [frames]
    else this.#block.push(frames)
  }

  endBlock(): void {
    const parts = this.#block
    this.#block = null
    if (parts !== null) this.#give(parts)
  }

  missed(after: number): void {
    this.#block = null
    const channels = this.#subscriptions.leaveHub()
    const changesSince = this.#changes?.position ?? after
    this.#endChanges()
    if (channels.length > 0) this.#catchUp(channels, after, false, changesSince)
  }

  /**
   * Sends an event of a private channel without a past, if the client has subscribed to it. `body` is its data as that of
   * EncodedEvent. Its cursor moves no client back, and several events may have the same.
   */
  tell(channel: string, body: Uint8Array): void {
    if (!this.#subscriptions.has(channel)) return
    this.#give([eventFrames(channel, [{ cursor: this.#shownCursor, body }], false)])
  }

  /** Sends changes of the tenant's submissions that were stored just now, if the client has subscribed to them. */
  hear(batch: ChangeBatch): void {
    this.#changes?.hear(batch)
  }

  /** Looks in the store for changes of the tenant's submissions that nobody told of. */
  lookForChanges(): void {
    this.#changes?.look()
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
    this.#change({ type: 'drain' })
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
    this.#change({ type: 'closed' })
  }

  #stop(): void {
    if (this.isClosed) return
    this.#end.abort()
    for (const name of this.#subscriptions.names) this.#subscriptions.forget(name)
    this.#endChanges()
    this.#sender.end()
  }

  async #subscribe(names: readonly string[], since: Since): Promise<void> {
    const { channels, refused } = channelsOf(names, streamChannelOf)
    for (const { code, message, names: wrong } of refused) this.#error(code, message, wrong)
    if (since === 'invalid') {
      const message = 'since is not a cursor: send an integer, or its decimal text'
      return this.#error('invalid_cursor', message, names)
    }
    const wanted = channels.filter(
      (channel) => typeof since === 'number' || !this.#subscriptions.has(channel.name)
    )
    const added = wanted.filter(({ name }) => !this.#subscriptions.has(name)).map(({ name }) => name)
    const taken = await this.#charge(this.#withinLimit(wanted))
    const changesAfter =
      typeof since !== 'number' && taken.some(isOfChanges) ? await this.#newestChange() : null
    if (this.isClosed || channels.length === 0) return
    const past = typeof since === 'number' ? taken.filter(isReplayed) : []
    const live = taken.filter((channel) => !namesOf(past).includes(channel.name))
    for (const { name } of taken) this.#subscriptions.forget(name)
    if (taken.some(isOfChanges)) this.#endChanges()
    this.#subscriptions.join(live)
    if (changesAfter !== null) this.#beginChanges(changesAfter)
    this.#subscriptions.follow(past, null)
    const isNew = added.filter((name) => this.#subscriptions.has(name))
    this.#send(
      messages.subscribed(this.#subscriptions.names, isNew, since, past.length > 0, this.#shownCursor)
    )
    if (typeof since !== 'number') return
    if (live.length > 0) this.#send(messages.replayNotSupported(namesOf(live)))
    if (past.length > 0) this.#replay(past, since)
    else if (live.length > 0) this.#send(messages.replayComplete(this.#shownCursor, namesOf(live)))
  }

  #withinLimit(channels: readonly StreamChannel[]): StreamChannel[] {
    let left = CHANNELS_MAX - this.#subscriptions.size
    const [taken, refused]: [StreamChannel[], StreamChannel[]] = [[], []]
    for (const channel of channels) {
      if (this.#subscriptions.has(channel.name) || left-- > 0) taken.push(channel)
      else refused.push(channel)
    }
    if (refused.length > 0)
      this.#error('channel_limit', `a connection has ${CHANNELS_MAX} channels at most`, namesOf(refused))
    return taken
  }

  /** Returns the channels that the key's quota of this minute allows; each costs one call. */
  async #charge(channels: readonly StreamChannel[]): Promise<StreamChannel[]> {
    const { limits, clock } = this.#deps
    const { keyId, ratePerMinute } = this.caller
    const uses = await Promise.all(channels.map(async () => limits.take(keyId, ratePerMinute, clock.now())))
    const refused = channels.filter((_, index) => !uses[index]!.allowed)
    if (refused.length > 0) {
      const message = `this key may make ${ratePerMinute} requests a minute, one a channel; the next minute begins in ${uses[0]!.resetIn} s`
      this.#error('rate_limited', message, namesOf(refused))
    }
    return channels.filter((_, index) => uses[index]!.allowed)
  }

  #unsubscribe(names: readonly string[]): void {
    const removed = [...new Set(names)].filter((name) => this.#subscriptions.forget(name))
    if (removed.includes('tx')) this.#endChanges()
    this.#send(messages.unsubscribed(removed))
  }

  /** Sends the events of channels since a cursor, then live ones. */
  #replay(channels: readonly ReplayedChannel[], since: number): void {
    const { hub } = this.#deps
    if (since > hub.head) {
      this.#send(messages.aheadOfHead(namesOf(channels), since, this.#shownCursor))
      this.#send(messages.replayComplete(this.#shownCursor, namesOf(channels)))
      return this.#catchUp(channels, since, false)
    }
    this.#catchUp(channels, since, true)
  }

  #catchUp(
    channels: readonly ReplayedChannel[],
    since: number,
    isReplay: boolean,
    changesSince = since
  ): void {
    const { hub, horizon, replays, retry } = this.#deps
    const end = new AbortController()
    const stop = (): void => end.abort()
    this.#end.signal.addEventListener('abort', stop, { once: true })
    const group: Group = { past: new MergedPast(this.#past, channels, since, { changesSince }), end }
    this.#subscriptions.follow(channels, group)
    this.#change({ type: 'replay.begun' })
    const join = (joined: readonly ReplayedChannel[]): void => {
      this.#subscriptions.join(joined)
      if (joined.some(isOfChanges)) this.#beginChanges(group.past.changesTo!)
      if (isReplay) this.#send(messages.replayComplete(this.#shownCursor, namesOf(joined)))
    }
    const beyond = (left: readonly ReplayedChannel[], from: number, first: number): void =>
      this.#send(messages.beyondHorizon(namesOf(left), from, first))
    const client = {
      hub,
      replays,
      retry,
      join,
      room: () => this.#sender.room(),
      isSent: () => this.#sender.isSent,
      give: (parts: readonly Frames[]) => this.#give(parts),
      horizon: () => horizon.cursor,
      beyond,
      end: end.signal
    }
    void catchUp(group.past, isReplay, client)
      .catch((fault: unknown) => {
        if (end.signal.aborted) return
        this.#deps.report(fault)
        this.close(1011, 'the replay failed')
      })
      .finally(() => {
        this.#end.signal.removeEventListener('abort', stop)
        if (!this.isClosed) this.#change({ type: 'replay.ended' })
      })
  }

  #change(event: ConnectionEvent): void {
    if (this.#machine.status === 'active')
      [this.#machine] = transition(connectionMachine, this.#machine, event)
  }

  /** The newest cursor up to which the client has everything, or will have it by events that are on their way. */
  get #shownCursor(): number {
    return Math.max(shownHead(this.#deps.hub.head), this.#changes?.position ?? 0)
  }

  /** The past of channels, and of the tenant's own changes. */
  get #past(): PastReader {
    const { history, changes } = this.#deps
    const { tenant } = this.caller
    return {
      read: (channel, after, until, limits) =>
        isPrivate(channel)
          ? changes.read(tenant, after, until, limits.rows)
          : history.read(channel, after, until, limits)
    }
  }

  #newestChange(): Promise<number> {
    const { changes, retry } = this.#deps
    return retry(() => changes.last(this.caller.tenant), this.#end.signal)
  }

  #beginChanges(after: number): void {
    this.#endChanges()
    const { hub, changes, retry, report } = this.#deps
    this.#changes = new LiveChanges(
      {
        tenant: this.caller.tenant,
        hub,
        history: changes,
        retry,
        room: () => this.#sender.room(),
        give: (frames) => this.#give([frames]),
        failed: (fault) => {
          report(fault)
          this.close(1011, 'the changes of submissions could not be read')
        }
      },
      after
    )
  }

  #endChanges(): void {
    this.#changes?.end()
    this.#changes = null
  }

  /**
   * Queues frames. A fault closes this connection only, and does not disturb the block of others (T1 of the tenants).
   */
  #give(parts: readonly Frames[]): void {
    if (this.isClosed) return
    try {
      this.#sender.give(parts)
    } catch (fault) {
      this.#deps.report(fault)
      this.close(1011, 'internal error')
    }
  }

  #send(message: object): void {
    this.#sender.message(message)
  }

  #error(code: ErrorName, message: string, channels?: readonly string[]): void {
    this.#send(messages.errorMessage(code, message, channels))
  }

  #inTurn(work: () => Promise<void>): void {
    const queue = (this.#messages ??= new PQueue({ concurrency: 1 }))
    void queue
      .add(async () => (this.isClosed ? undefined : work()))
      .catch((fault: unknown) => {
        this.#deps.report(fault)
        this.close(1011, 'internal error')
      })
      .finally(() => {
        if (queue.size + queue.pending === 0 && this.#messages === queue) this.#messages = null
      })
  }
}

const namesOf = (channels: readonly StreamChannel[]): string[] => channels.map(({ name }) => name)
