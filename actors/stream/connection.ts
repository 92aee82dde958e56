import { initialTransition, transition } from 'xstate'
import {
  connectionMachine,
  type ConnectionEvent,
  type ConnectionState
} from '../../machines/connection.machine.ts'
import type { Caller } from '../../src/access/caller.ts'
import { channelOf, isFault, type Channel, type ChannelFault } from '../../src/stream/channel.ts'
import { mergedFrames, messageFrame, sliceOf, type Frames } from '../../src/stream/frames.ts'
import type { Reader } from '../../src/stream/hub.ts'
import * as messages from '../../src/stream/messages.ts'
import { CHANNELS_MAX, MESSAGE_BYTES_MAX, type ErrorName, type Since } from '../../src/stream/messages.ts'
import { MergedPast } from '../../src/stream/merged-past.ts'
import { CHUNK_BYTES, Outbox } from '../../src/stream/outbox.ts'
import { catchUp } from './catch-up.ts'
import type { Pipe } from './pipe.ts'
import type { StreamDeps } from './stream-deps.ts'

/** Messages of a client in a second: more are refused, and far more close the connection. Chosen. */
const MESSAGES_A_SECOND = 100
const MESSAGES_TOO_MANY = 1_000
/** A large block is given to the outbox in so many parts of its room, and what the socket takes of them does not wait there. */
const PARTS_OF_ROOM = 8
/** Pings without an answer after which nobody is there (spec choices, section 6). */
const PINGS_MISSED_MAX = 2

/** All begin with one; an actor of its own would cost each connection 3.6 KB. */
const [OPENING] = initialTransition(connectionMachine)

/** Channels of one connection that catch up together. */
interface Group {
  readonly past: MergedPast
  readonly end: AbortController
}

/** What a channel that a client has is given by: the hub, or a group that catches up. */
interface Subscription {
  readonly channel: Channel
  group: Group | null
}

/**
 * One client's socket: what it reads, from where, and what it is owed.
 *
 * S1. Each event of a subscription is owed once, in cursor order, whether it comes from the store or from the hub.
 * S2. Blocks are written as they come, all that a block owes in one write; what the socket does not take waits in the
 *     outbox, whose bounds hold.
 * S3. What the store gives is asked for when the outbox is nearly empty.
 */
export class StreamConnection implements Reader {
  readonly caller: Caller
  readonly #pipe: Pipe
  readonly #deps: StreamDeps
  #machine = OPENING
  readonly #outbox: Outbox
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #end = new AbortController()
  /** Of the block that is being told. */
  #block: Frames[] = []
  #isBlocked = false
  #waitingForRoom: (() => void)[] = []
  #turn: Promise<void> = Promise.resolve()
  #second = 0
  #messagesInSecond = 0
  #pingsMissed = 0
  #events = 0

  constructor(pipe: Pipe, caller: Caller, deps: StreamDeps) {
    this.#pipe = pipe
    this.caller = caller
    this.#deps = deps
    this.#outbox = new Outbox(deps.room, (hole) => messageFrame(messages.eventsDropped(hole)))
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

  /** Events owed, dropped and sent since it was opened. */
  get owed(): number {
    return this.#outbox.events
  }

  get dropped(): number {
    return this.#outbox.dropped
  }

  get events(): number {
    return this.#events
  }

  open(): void {
    const { hub, horizon, clock } = this.#deps
    this.#send(messages.hello(this.caller.tenant, hub.head, horizon.place, clock.now()))
    this.#change({ type: 'opened' })
  }

  /** Takes a message; `size` is its length in bytes. They are handled one after another. */
  receive(text: string | null, size: number): void {
    if (this.isClosed) return
    this.#pingsMissed = 0
    if (!this.#isFlood()) this.#inTurn(() => this.#handle(text, size))
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
    this.#block.push(frames)
  }

  endBlock(): void {
    const frames = mergedFrames(this.#block)
    this.#block = []
    this.#give(frames)
  }

  missed(after: number): void {
    this.#block = []
    const live = [...this.#subscriptions.values()].filter(({ group }) => group === null)
    const channels = live.map(({ channel }) => channel)
    for (const channel of channels) this.#deps.hub.leave(channel, this)
    if (channels.length > 0) this.#catchUp(channels, after, false)
  }

  /** The socket has sent all that it was given. */
  drained(): void {
    this.#isBlocked = false
    this.#pump()
  }

  ponged(): void {
    this.#pingsMissed = 0
  }

  /** Looks whether the client is still there; closes the connection when it is not. */
  ping(): void {
    if (this.#pingsMissed >= PINGS_MISSED_MAX) return this.close(4408, 'no answer to pings')
    this.#pingsMissed++
    this.#pipe.ping()
  }

  /** Tells of the end, and when to come back. */
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

  /** The socket is closed. */
  closed(): void {
    this.#stop()
    this.#change({ type: 'closed' })
  }

  #stop(): void {
    if (this.isClosed) return
    this.#end.abort()
    for (const name of [...this.#subscriptions.keys()]) this.#forget(name)
    this.#wakeWaiting()
  }

  async #subscribe(names: readonly string[], since: Since): Promise<void> {
    const channels = this.#channelsOf(names)
    if (since === 'invalid') {
      const message = 'since is no cursor: an integer, or its decimal text'
      return this.#error('invalid_cursor', message, names)
    }
    const wanted = channels.filter(
      (channel) => typeof since === 'number' || !this.#subscriptions.has(channel.name)
    )
    const added = wanted.filter(({ name }) => !this.#subscriptions.has(name)).map(({ name }) => name)
    const taken = await this.#charge(this.#withinLimit(wanted))
    if (this.isClosed || (channels.length === 0 && names.length > 0)) return
    const past = typeof since === 'number' ? taken.filter(({ kind }) => kind !== 'pools') : []
    for (const channel of taken) {
      this.#forget(channel.name)
      this.#subscriptions.set(channel.name, { channel, group: null })
      if (!past.includes(channel)) this.#deps.hub.join(channel, this)
    }
    const all = [...this.#subscriptions.keys()]
    const isNew = added.filter((name) => this.#subscriptions.has(name))
    this.#send(messages.subscribed(all, isNew, since, past.length > 0, this.#deps.hub.head))
    if (typeof since !== 'number') return
    const live = taken.filter((channel) => !past.includes(channel))
    if (live.length > 0) this.#send(messages.replayNotSupported(namesOf(live)))
    if (past.length > 0) this.#replay(past, since)
    else if (live.length > 0) this.#send(messages.replayComplete(this.#headCursor, namesOf(live)))
  }

  /** The channels that are named, each once; says which names are none. */
  #channelsOf(names: readonly string[]): Channel[] {
    const found = [...new Set(names)].map((name) => ({ name, found: channelOf(name) }))
    const faults = new Map<ChannelFault['code'], { message: string; names: string[] }>()
    for (const { name, found: fault } of found) {
      if (!isFault(fault)) continue
      const known = faults.get(fault.code)
      if (known === undefined) faults.set(fault.code, { message: fault.message, names: [name] })
      else known.names.push(name)
    }
    for (const [code, { message, names }] of faults) this.#error(code, message, names)
    return found.flatMap(({ found: channel }) => (isFault(channel) ? [] : [channel]))
  }

  #withinLimit(channels: readonly Channel[]): Channel[] {
    let left = CHANNELS_MAX - this.#subscriptions.size
    const [taken, refused]: [Channel[], Channel[]] = [[], []]
    for (const channel of channels) {
      if (this.#subscriptions.has(channel.name) || left-- > 0) taken.push(channel)
      else refused.push(channel)
    }
    if (refused.length > 0)
      this.#error('channel_limit', `a connection has ${CHANNELS_MAX} channels at most`, namesOf(refused))
    return taken
  }

  /** Those that the key's quota of the minute has room for: each costs one call. */
  async #charge(channels: readonly Channel[]): Promise<Channel[]> {
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
    const removed = [...new Set(names)].filter((name) => this.#forget(name))
    this.#send(messages.unsubscribed(removed))
  }

  /** Takes a channel from where it is given; false when the client has it not. */
  #forget(name: string): boolean {
    const subscription = this.#subscriptions.get(name)
    if (subscription === undefined) return false
    const { channel, group } = subscription
    this.#subscriptions.delete(name)
    if (group === null) this.#deps.hub.leave(channel, this)
    else {
      group.past.drop(name)
      if (group.past.channels.length === 0) group.end.abort()
    }
    return true
  }

  /** Sends what channels had since a cursor, then what comes. */
  #replay(channels: readonly Channel[], since: number): void {
    const { hub } = this.#deps
    if (since > hub.head) {
      this.#send(messages.aheadOfHead(namesOf(channels), since, hub.head))
      this.#send(messages.replayComplete(this.#headCursor, namesOf(channels)))
      return this.#catchUp(channels, since, false)
    }
    this.#catchUp(channels, since, true)
  }

  #catchUp(channels: readonly Channel[], since: number, isReplay: boolean): void {
    const { hub, history, horizon, replays, patience } = this.#deps
    const end = new AbortController()
    const stop = (): void => end.abort()
    this.#end.signal.addEventListener('abort', stop, { once: true })
    const group: Group = { past: new MergedPast(history, channels, since), end }
    for (const { name } of channels) this.#subscriptions.get(name)!.group = group
    this.#change({ type: 'replay.begun' })
    const join = (joined: readonly Channel[]): void => {
      for (const channel of joined) {
        this.#subscriptions.get(channel.name)!.group = null
        hub.join(channel, this)
      }
      if (isReplay) this.#send(messages.replayComplete(this.#headCursor, namesOf(channels)))
    }
    const beyond = (left: readonly Channel[], from: number, first: number): void =>
      this.#send(messages.beyondHorizon(namesOf(left), from, first))
    const client = {
      hub,
      turns: replays,
      patience,
      join,
      room: () => this.#room(),
      owe: (frames: Frames) => this.#give(frames),
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

  get #headCursor(): number {
    return Math.max(this.#deps.hub.head, 0)
  }

  #give(frames: Frames): void {
    if (this.isClosed) return
    const { length } = frames.cursors
    this.#events += length
    if (this.#pipe.isSent) this.#outbox.sent()
    if (!this.#isBlocked && this.#outbox.isEmpty && frames.bytes.length <= CHUNK_BYTES) {
      this.#outbox.passed(length)
      this.#isBlocked = !this.#pipe.write([frames.bytes])
      return
    }
    // What the socket takes of a large block at once is not waiting for room.
    const part = Math.ceil(this.#deps.room.events / PARTS_OF_ROOM)
    for (let from = 0; from < length; from += part) {
      if (this.#outbox.add(sliceOf(frames, from, from + part)) > 0) this.#overflowed()
      this.#pump()
    }
  }

  #overflowed(): void {
    if (this.state !== 'overflowing') this.#change({ type: 'overflowed' })
  }

  #pump(): void {
    if (this.#pipe.isSent) this.#outbox.sent()
    while (!this.#isBlocked && !this.#outbox.isEmpty) this.#isBlocked = !this.#pipe.write(this.#outbox.take())
    if (this.#outbox.isEmpty && this.state === 'overflowing') this.#change({ type: 'caught up' })
    if (this.#hasRoom) this.#wakeWaiting()
  }

  get #hasRoom(): boolean {
    return !this.#isBlocked && this.#outbox.isEmpty
  }

  #room(): Promise<void> {
    if (this.#hasRoom || this.isClosed) return Promise.resolve()
    return new Promise((resolve) => this.#waitingForRoom.push(resolve))
  }

  #wakeWaiting(): void {
    const waiting = this.#waitingForRoom
    this.#waitingForRoom = []
    for (const wake of waiting) wake()
  }

  #send(message: object): void {
    const frame = messageFrame(message)
    if (!this.#isBlocked && this.#outbox.isEmpty) this.#isBlocked = !this.#pipe.write([frame])
    else this.#outbox.message(frame)
  }

  #error(code: ErrorName, message: string, channels?: readonly string[]): void {
    this.#send(messages.errorMessage(code, message, channels))
  }

  #inTurn(work: () => Promise<void>): void {
    this.#turn = this.#turn
      .then(() => (this.isClosed ? undefined : work()))
      .catch((fault: unknown) => {
        this.#deps.report(fault)
        this.close(1011, 'internal error')
      })
  }

  /** Whether a message is one too many; the first of a second that is gets an answer. */
  #isFlood(): boolean {
    const second = Math.floor(this.#deps.clock.now() / 1000)
    if (second !== this.#second) this.#messagesInSecond = 0
    this.#second = second
    const count = ++this.#messagesInSecond
    if (count === MESSAGES_A_SECOND + 1)
      this.#error(
        'rate_limited',
        `a connection may send ${MESSAGES_A_SECOND} messages a second; the rest of this second's are not read`
      )
    if (count > MESSAGES_TOO_MANY) this.close(4429, 'too many messages')
    return count > MESSAGES_A_SECOND
  }
}

const namesOf = (channels: readonly Channel[]): string[] => channels.map(({ name }) => name)
