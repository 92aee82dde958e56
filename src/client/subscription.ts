import { Connection, type EventMessage, type Incoming } from './connection.ts'
import type { Channel, Gap, ItemOf, PrivateChannel, PrivateEvents, StreamEvent } from './events.ts'
import { Inbox } from './inbox.ts'
import type { Notice, Settings } from './options.ts'
import { StreamError } from './stream-error.ts'

type Item = StreamEvent | Gap
type Warning = Extract<Incoming, { readonly type: 'warning' }>

interface Waiting {
  readonly resolve: (result: IteratorResult<Item, undefined>) => void
  readonly reject: (error: StreamError) => void
}

/** Temporary errors of the service. */
const PASSING: ReadonlySet<string> = new Set(['rate_limited', 'internal'])

/** Kinds of the events of private channels. */
const PRIVATE_KINDS: ReadonlyMap<string, StreamEvent['kind']> = new Map(
  Object.entries({
    webhooks: 'webhook',
    tx: 'transaction',
    revenue: 'ledger'
  } satisfies { readonly [Name in PrivateChannel]: PrivateEvents[Name]['kind'] })
)
/** Channels on which several events may have one cursor. */
const SHARED_CURSORS: ReadonlySet<string> = new Set<Channel>(['webhooks', 'revenue'])
/** Channels without replay. Their events arrive during the replay of other channels, which must resume at its own cursor. */
const LIVE_ONLY: ReadonlySet<string> = new Set<Channel>(['pools', 'webhooks', 'revenue'])

/** Channels whose events have no `kind`. */
const WITHOUT_KIND = /^price:/

/** Returns the fields to request: those that are wanted, and `kind`, which tells the events of a channel apart. */
function sentFields(channels: readonly Channel[], fields: readonly string[]): readonly string[] {
  const needsKind = channels.some((channel) => !WITHOUT_KIND.test(channel) && !PRIVATE_KINDS.has(channel))
  return needsKind && !fields.includes('kind') ? ['kind', ...fields] : fields
}

/**
 * The events of some channels, each once, in cursor order, over a connection of its own.
 *
 * U1. After any loss (a lost connection, events dropped by the service, a full buffer), the events after `cursor` are
 *     requested again. Items waiting for the consumer are dropped, because the service sends them again.
 * U2. Messages between such a request and its answer were sent before the request and are ignored. An event sent
 *     twice is delivered once.
 * U3. A `gap` stands in the place of events that are no longer available.
 */
export class Subscription<C extends Channel = Channel> implements AsyncIterableIterator<
  ItemOf<C>,
  undefined
> {
  readonly channels: readonly C[]
  readonly #fields: readonly string[] | null
  readonly #settings: Settings
  readonly #connection: Connection
  readonly #inbox: Inbox<Item>
  readonly #onEnd: () => void
  readonly #waiting: Waiting[] = []
  #isAsking = true
  /** Whether the connection is closed until all waiting items are taken. */
  #isPaused = false
  /** The last cursor of each channel since the last request, and the cursor of that request. */
  readonly #seen = new Map<string, number>()
  #requestCursor = -1
  #end: { readonly error: StreamError | null } | null = null

  constructor(
    settings: Settings,
    channels: readonly C[],
    { since, fields }: { readonly since: number | null; readonly fields: readonly string[] | null },
    onEnd: () => void
  ) {
    this.channels = channels
    this.#fields = fields === null ? null : sentFields(channels, fields)
    this.#settings = settings
    this.#inbox = new Inbox(since)
    this.#onEnd = onEnd
    this.#connection = new Connection(settings, {
      receive: (message) => this.#receive(message),
      failed: (error) => this.#finish(error)
    })
    this.#connection.open()
  }

  /**
   * The position up to which the consumer has taken everything; null until the subscription has begun. After a crash,
   * resume with the cursor of the last processed event.
   */
  get cursor(): number | null {
    return this.#inbox.cursor
  }

  /** Returns the next event or gap. Rejects once with StreamError when the subscription has failed for good. */
  next(): Promise<IteratorResult<ItemOf<C>, undefined>> {
    return this.#next() as Promise<IteratorResult<ItemOf<C>, undefined>>
  }

  /** Ends the subscription, as leaving a `for await` does. */
  async return(): Promise<IteratorResult<ItemOf<C>, undefined>> {
    this.close()
    return { done: true, value: undefined }
  }

  /** Ends the subscription and drops waiting items. */
  close(): void {
    this.#inbox.clear()
    this.#connection.close()
    this.#finish(null)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #next(): Promise<IteratorResult<Item, undefined>> {
    const item = this.#inbox.take()
    if (item !== null) {
      if (this.#isPaused && this.#inbox.size === 0) this.#resume()
      return Promise.resolve({ done: false, value: item })
    }
    if (this.#end === null) return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
    const { error } = this.#end
    this.#end = { error: null }
    return error === null ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error)
  }

  #receive(message: Incoming): void {
    switch (message.type) {
      case 'hello':
        this.#notice('connected', `connected as ${message.tenant}`)
        return this.#ask()
      case 'subscribed':
        this.#isAsking = false
        if (message.since === undefined) this.#inbox.reach(message.cursor)
        return
      case 'event':
        return this.#isAsking ? undefined : this.#event(message)
      case 'replay_complete':
        if (this.#isAsking) return
        this.#inbox.reach(message.cursor)
        return this.#notice('live', `live from cursor ${message.cursor}`)
      case 'warning':
        return this.#warning(message)
      case 'error': {
        if (PASSING.has(message.code)) return this.#connection.reopen(message.message)
        this.#connection.close()
        return this.#finish(new StreamError(message.code, message.message))
      }
      case 'unsubscribed':
      case 'pong':
    }
  }

  /** Requests the events after the cursor. */
  #ask(): void {
    this.#inbox.forget()
    this.#isAsking = true
    const { cursor } = this.#inbox
    this.#seen.clear()
    this.#requestCursor = cursor ?? -1
    this.#connection.send({
      subscribe: this.channels,
      ...(cursor === null ? {} : { since: cursor }),
      ...(this.#fields === null ? {} : { fields: this.#fields })
    })
  }

  #warning(warning: Warning): void {
    if (this.#isAsking) return
    switch (warning.code) {
      case 'beyond_replay_horizon': {
        const { code, channels, since, horizon } = warning
        return this.#hand({ kind: 'gap', reason: code, channels, since, until: horizon }, horizon)
      }
      case 'replay_not_supported': {
        const { code, channels } = warning
        const since = this.#inbox.cursor ?? 0
        return this.#hand({ kind: 'gap', reason: code, channels, since, until: null }, null)
      }
      case 'events_dropped':
        this.#notice('refetching', `${warning.dropped} events were not read in time and are refetched`)
        return this.#ask()
      case 'cursor_ahead_of_head':
        if (warning.after < warning.since) this.#liveFrom(warning.after)
        return this.#notice('warning', `${warning.code}: ${warning.message}`)
      default:
        return this.#notice('warning', `${warning.code}: ${warning.message}`)
    }
  }

  /** Accepts events after a cursor below the requested one. The warning comes before all events of its request. */
  #liveFrom(cursor: number): void {
    this.#requestCursor = cursor
    this.#inbox.rewind(cursor)
  }

  #event({ channel, data, cursor, replay }: EventMessage): void {
    const isSeen = cursor <= (this.#seen.get(channel) ?? this.#requestCursor)
    if (isSeen && !SHARED_CURSORS.has(channel)) return
    this.#seen.set(channel, cursor)
    const kind = PRIVATE_KINDS.get(channel) ?? data.kind ?? (data.event === 'retract' ? 'retract' : 'price')
    this.#hand(
      { kind, channel, cursor, replay: replay === true, data } as Item,
      LIVE_ONLY.has(channel) ? null : cursor
    )
  }

  #hand(item: Item, cursor: number | null): void {
    this.#inbox.push(item, cursor)
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) return waiting.resolve({ done: false, value: this.#inbox.take()! })
    if (this.#inbox.size < this.#settings.bufferEvents) return
    // A browser's socket has no backpressure.
    this.#connection.pause()
    this.#isPaused = true
    this.#notice(
      'slow_consumer',
      `${this.#inbox.size} events wait to be read; the subscription then resumes after them`
    )
  }

  #resume(): void {
    this.#isPaused = false
    this.#connection.open()
  }

  #finish(error: StreamError | null): void {
    if (this.#end !== null) return
    this.#end = { error }
    this.#onEnd()
    if (this.#waiting.length > 0 && error !== null) {
      this.#waiting.shift()!.reject(error)
      this.#end = { error: null }
    }
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true, value: undefined })
  }

  #notice(kind: Notice['kind'], message: string): void {
    this.#settings.onNotice({ kind, message })
  }
}
