import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { HintChannel, StoredSubmission, TenantEvent } from '../cluster/coordination.ts'
import type { StoredQuestion } from '../port/questions.ts'
import type { Clock } from '../../src/ports.ts'
import type { RedisConnection } from './connection.ts'

/**
 * Ping interval of a subscription, in milliseconds. A dead socket is noticed as soon as a missed heartbeat of the
 * connection.
 */
const PING_MS = 1_000
/**
 * Maximum events of tenants that wait for the server; the oldest are dropped first. The webhooks of 200 tenants can all be
 * deactivated at once.
 */
const TENANT_EVENTS_WAITING_MAX = 1_000
/**
 * Maximum messages about readings that wait for the server, each of a batch. The oldest are dropped: their readings are found
 * when they are next claimed.
 */
const READINGS_WAITING_MAX = 100
/** Maximum submissions that wait for the server: a second of them. The oldest are dropped, and found by a list. */
const SUBMISSIONS_WAITING_MAX = 1_000

/** Maximum questions, and answers, that wait for the server. The oldest are dropped, and found in the store. */
const QUESTIONS_WAITING_MAX = 1_000

interface Format<What> {
  write(what: What): string
  /** Returns null for text that no version has written. */
  read(text: string): What | null
}

const slots: Format<number> = {
  write: String,
  read: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null)
}

/** The format of random ids. */
const ids: Format<string> = { write: String, read: (text) => (/^[\w-]{1,64}$/.test(text) ? text : null) }

/** The format of a hint without content. */
const nothingMore: Format<void> = { write: () => '', read: () => undefined }

const TENANT_EVENT = z.object({
  tenant: z.string(),
  channel: z.string(),
  data: z.record(z.string(), z.unknown())
})
const tenantEvents: Format<TenantEvent> = {
  write: (event) => JSON.stringify(event),
  read(text) {
    try {
      return TENANT_EVENT.safeParse(JSON.parse(text)).data ?? null
    } catch {
      return null
    }
  }
}

/** The format of keys of readings. */
const keyLists: Format<readonly string[]> = {
  write: (keys) => keys.join(' '),
  read: (text) => (/^[\w:-]+( [\w:-]+)*$/.test(text) ? text.split(' ') : null)
}

const questions: Format<StoredQuestion> = {
  write: ({ id, text }) => `${id} ${text}`,
  read(text) {
    const [, id, question] = /^([\w-]{1,64}) (.*)$/s.exec(text) ?? []
    return id === undefined || question === undefined ? null : { id, text: question }
  }
}

const submissions: Format<StoredSubmission> = {
  write: ({ tenant, signature }) => `${signature} ${tenant}`,
  read(text) {
    // The id of a bundle, in hexadecimal, stands in the place of a signature.
    const [, signature, tenant] = /^([1-9A-HJ-NP-Za-km-z]{64,88}|[0-9a-f]{64}) (.+)$/.exec(text) ?? []
    return signature === undefined || tenant === undefined ? null : { tenant, signature }
  }
}

/** Hints among the processes of a service, over one subscription. Hints are small and may be lost. */
export class RedisHints {
  /** Slot of a block that was committed. */
  readonly commits: HintChannel<number>
  /** A key or tenant was created or changed. */
  readonly keys: HintChannel<void>
  /** A webhook was created, changed or deleted. */
  readonly webhooks: HintChannel<void>
  /** A process that delivers to webhooks is alive. */
  readonly deliverers: HintChannel<string>
  /** A submission was stored. */
  readonly submissions: HintChannel<StoredSubmission>
  /** A process that tracks transactions is alive. */
  readonly trackers: HintChannel<string>
  /** An event of a private channel of the stream. */
  readonly tenantEvents: HintChannel<TenantEvent>
  /** Readings of accounts were stored. */
  readonly readings: HintChannel<readonly string[]>
  /** A question to the processes that hold names and rankings was stored. */
  readonly questions: HintChannel<StoredQuestion>
  /** Such a question was answered. */
  readonly answers: HintChannel<string>
  readonly #clock: Clock
  readonly #subscriber: Redis
  readonly #channels: ReadonlyMap<string, AnyChannel>
  readonly #unfollow: () => void
  /** Whether the subscription's socket is ready. */
  #isReady = false
  #hasHeard = false
  #ping: unknown

  constructor(connection: RedisConnection, { clock }: { readonly clock: Clock }) {
    this.#clock = clock
    const channel = <What>(name: string, format: Format<What>, waitingMax = 1): RedisHintChannel<What> =>
      new RedisHintChannel(connection, connection.key('hint', name), format, {
        waitingMax,
        followed: (followed) => {
          if (this.#isReady) void this.#subscribe([followed])
        }
      })
    const commits = channel('commits', slots)
    const keys = channel('keys', nothingMore)
    const webhooks = channel('webhooks', nothingMore)
    const deliverers = channel('deliverers', ids)
    const trackers = channel('trackers', ids)
    const stored = channel('submissions', submissions, SUBMISSIONS_WAITING_MAX)
    const ofTenants = channel('tenant-events', tenantEvents, TENANT_EVENTS_WAITING_MAX)
    const readings = channel('readings', keyLists, READINGS_WAITING_MAX)
    const asked = channel('questions', questions, QUESTIONS_WAITING_MAX)
    const answered = channel('answers', ids, QUESTIONS_WAITING_MAX)
    this.commits = commits
    this.keys = keys
    this.webhooks = webhooks
    this.deliverers = deliverers
    this.trackers = trackers
    this.submissions = stored
    this.tenantEvents = ofTenants
    this.readings = readings
    this.questions = asked
    this.answers = answered
    this.#channels = new Map<string, AnyChannel>([
      [commits.name, commits],
      [keys.name, keys],
      [webhooks.name, webhooks],
      [deliverers.name, deliverers],
      [trackers.name, trackers],
      [stored.name, stored],
      [ofTenants.name, ofTenants],
      [readings.name, readings],
      [asked.name, asked],
      [answered.name, answered]
    ])
    this.#subscriber = connection.duplicate()
    this.#subscriber.on('ready', () => void this.#begin())
    this.#subscriber.on('close', () => this.#end())
    // The other connection to the same server reports its faults.
    this.#subscriber.on('error', () => undefined)
    this.#subscriber.on('message', (name, message) => {
      this.#hasHeard = true
      this.#channels.get(name)?.hear(message)
    })
    this.#unfollow = connection.onChange((available) => {
      if (available) for (const channel of this.#channels.values()) channel.flush()
    })
    this.#subscriber.connect().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#unfollow()
    this.#clock.clearTimeout(this.#ping)
    this.#subscriber.disconnect()
  }

  /** Subscribes to the channels that have followers, on a socket that has just connected. */
  async #begin(): Promise<void> {
    this.#isReady = true
    await this.#subscribe([...this.#channels.values()].filter(({ isFollowed }) => isFollowed))
    this.#pingLater()
  }

  #end(): void {
    this.#isReady = false
    this.#clock.clearTimeout(this.#ping)
    for (const channel of this.#channels.values()) channel.turn(false)
  }

  async #subscribe(channels: readonly AnyChannel[]): Promise<void> {
    if (channels.length === 0) return
    try {
      await this.#subscriber.subscribe(...channels.map(({ name }) => name))
      for (const channel of channels) channel.turn(this.#isReady)
    } catch {
      this.#subscriber.disconnect(true)
    }
  }

  /** Sends pings while no message arrives: the answer to one is late on a dead socket, which closes it. */
  #pingLater(): void {
    this.#clock.clearTimeout(this.#ping)
    if (!this.#isReady) return
    this.#hasHeard = false
    this.#ping = this.#clock.setTimeout(() => {
      if (this.#hasHeard) return this.#pingLater()
      this.#subscriber.ping().then(
        () => this.#pingLater(),
        () => undefined
      )
    }, PING_MS)
  }
}

type AnyChannel = Pick<RedisHintChannel<unknown>, 'name' | 'isFollowed' | 'flush' | 'hear' | 'turn'>

interface ChannelOptions {
  readonly waitingMax: number
  /** Called with a channel that has its first follower. */
  readonly followed: (channel: AnyChannel) => void
}

/**
 * H1. One message is in flight at a time. Up to `waitingMax`, the newest, wait for it or for an unreachable server.
 * H2. Followers get a notice of a possible loss (null) whenever hints start or cease to arrive.
 * H3. A process hears the channels alone that something in it has followed: hints of the others cost it nothing.
 */
class RedisHintChannel<What> implements HintChannel<What> {
  readonly name: string
  readonly #connection: RedisConnection
  readonly #format: Format<What>
  readonly #options: ChannelOptions
  readonly #followers = new Set<(what: What | null) => void>()
  #waiting: string[] = []
  #isPublishing = false
  #isFollowed = false
  #isSubscribed = false

  constructor(connection: RedisConnection, name: string, format: Format<What>, options: ChannelOptions) {
    this.#connection = connection
    this.name = name
    this.#format = format
    this.#options = options
  }

  get available(): boolean {
    return this.#isSubscribed
  }

  /** Whether the channel has ever had a follower. */
  get isFollowed(): boolean {
    return this.#isFollowed
  }

  publish(what: What): void {
    this.#waiting.push(`${this.#connection.id} ${this.#format.write(what)}`)
    if (this.#waiting.length > this.#options.waitingMax) this.#waiting.shift()
    this.flush()
  }

  subscribe(heard: (what: What | null) => void): () => void {
    this.#followers.add(heard)
    if (!this.#isFollowed) {
      this.#isFollowed = true
      this.#options.followed(this)
    }
    return () => void this.#followers.delete(heard)
  }

  /** Publishes the first waiting hint, if none is in flight and the server is available. */
  flush(): void {
    if (this.#isPublishing || !this.#connection.available) return
    const message = this.#waiting.shift()
    if (message === undefined) return
    this.#isPublishing = true
    this.#connection.publish(this.name, message).then(
      () => {
        this.#isPublishing = false
        this.flush()
      },
      () => {
        this.#isPublishing = false
        if (this.#waiting.length < this.#options.waitingMax) this.#waiting.unshift(message)
      }
    )
  }

  hear(message: string): void {
    const space = message.indexOf(' ')
    if (message.slice(0, space) === this.#connection.id) return
    const what = this.#format.read(message.slice(space + 1))
    for (const follower of this.#followers) follower(what)
  }

  /** Notes that hints start or cease to arrive. */
  turn(isSubscribed: boolean): void {
    if (this.#isSubscribed === isSubscribed) return
    this.#isSubscribed = isSubscribed
    for (const follower of this.#followers) follower(null)
  }
}
