import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { RedisPlace } from '../../src/kernel/config/redis-url.ts'
import type { Ports } from '../../src/ports.ts'
import { BEAT, BEAT_AFTER_ANOTHER_MS, BEAT_MS, beatReply } from './heartbeat.ts'
import type { RunScript, Script } from './script.ts'
import { placeText, redisPlaceOf, socketOptions } from './socket-options.ts'
import { FAREWELL_MS } from './times.ts'
import type { TlsOptions } from '../tls-options.ts'

/**
 * Heartbeats in a row that must see fewer processes before their number falls: a restarted server first counts only those
 * that reconnect first.
 */
const BEATS_MAX = 10

/** Replies that make a start fail, because waiting does not change them. */
const REFUSAL = /^(ERR|MOVED|NOAUTH|NOPERM|WRONGPASS)\b/
/** A redirection within a cluster, which a reconnection follows. */
const REDIRECTION = /^MOVED\b/

export interface RedisConnectionOptions extends Ports {
  /** One server, the primary of Sentinels, or a cluster (`readRedisUrl`). */
  readonly url: string
  /** For a URL with `rediss`. */
  readonly tls?: TlsOptions
  readonly sentinelPassword?: string | null
  /** Prefix of each key and channel; unique to each service on a server. */
  readonly prefix?: string
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/**
 * The connection of a process to the Redis that it shares with others. It reconnects forever, with bounded pauses. It
 * queues nothing: a call to an unreachable server fails at once.
 *
 * R1. It is available from the first answered heartbeat until the first unanswered one, or until the end of its socket.
 * R2. It logs one line when the server becomes unreachable, and one when it is back.
 */
export class RedisConnection {
  /** Random id of this process for its lifetime. */
  readonly id = randomUUID()
  readonly #options: RedisConnectionOptions
  readonly #kind: RedisPlace['kind']
  /** Where Redis is, for messages. */
  readonly #place: string
  readonly #socket: ReturnType<typeof socketOptions>
  readonly #client: Redis
  readonly #beat: RunScript
  readonly #listeners = new Set<(available: boolean) => void>()
  readonly #started = Promise.withResolvers<void>()
  #state: 'starting' | 'available' | 'away' | 'closed' = 'starting'
  #unreachableSinceMs = 0
  #detail = ''
  #counts: number[] = []
  #serverAheadMs = 0
  /** Number of the current socket: heartbeats sent on an earlier socket are ignored. */
  #life = 0
  #nextBeat: unknown

  private constructor(options: RedisConnectionOptions) {
    this.#options = options
    const place = redisPlaceOf(options.url)
    this.#kind = place.kind
    this.#place = placeText(place)
    this.#socket = socketOptions({ ...options, key: this.key() })
    this.#client = new Redis(this.#socket)
    this.#beat = this.#define(BEAT)
    this.#client.on('ready', () => void this.#takeBeat(++this.#life))
    this.#client.on('error', (error: Error) => this.#noteError(error))
    this.#client.on('close', () => this.#end('the connection was closed'))
  }

  /**
   * Connects. A server that does not answer counts as unreachable and is retried from then on; the call resolves within 5 s.
   * Rejects with STORAGE_UNAVAILABLE if the server answers and refuses, as for a wrong password.
   */
  static async open(options: RedisConnectionOptions): Promise<RedisConnection> {
    const connection = new RedisConnection(options)
    connection.#client.connect().catch(() => undefined)
    try {
      await connection.#started.promise
    } catch (error) {
      await connection.close()
      throw error
    }
    return connection
  }

  get available(): boolean {
    return this.#state === 'available'
  }

  /** Start of the outage in unix milliseconds, and the last error; null while the server is available. */
  get outage(): { readonly sinceMs: number; readonly detail: string } | null {
    return this.#state === 'away' ? { sinceMs: this.#unreachableSinceMs, detail: this.#detail } : null
  }

  /** Number of live processes of this service including this one, or null before the first heartbeat. */
  get processes(): number | null {
    return this.#counts.length === 0 ? null : Math.max(...this.#counts)
  }

  /** The server's clock in unix milliseconds, estimated at the last heartbeat; late by up to a round trip. */
  get serverNowMs(): number {
    return this.#options.clock.now() + this.#serverAheadMs
  }

  /** Key of a hash. Its field `since` is the time, in unix milliseconds, since which the server has lost no data. */
  get memoryKey(): string {
    return this.key('memory')
  }

  /**
   * Returns a key or channel name of this service. In a cluster all keys have one hash tag, so that one primary has them all:
   * scripts need several keys at once, and the availability of that primary is the availability of everything here.
   */
  key(...parts: readonly string[]): string {
    const { prefix = 'millrace:' } = this.#options
    return (this.#kind === 'cluster' ? `{${prefix}}` : prefix) + parts.join(':')
  }

  /** Calls `listener` at each change of availability, until the returned function is called. */
  onChange(listener: (available: boolean) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Key of the live processes, which a heartbeat adds `id` to. */
  get processesKey(): string {
    return this.key('processes')
  }

  /**
   * Takes the outcome of a heartbeat that a script has sent along (`beatSteps`): the number of live processes, and the
   * server's time. The next own heartbeat is later then.
   */
  tookBeat(processes: number, nowMs: number): void {
    if (!this.available) return
    const { clock } = this.#options
    this.#noteBeat(processes, nowMs)
    clock.clearTimeout(this.#nextBeat)
    const life = this.#life
    this.#nextBeat = clock.setTimeout(() => void this.#takeBeat(life), BEAT_AFTER_ANOTHER_MS)
  }

  /** Returns a function that runs the script, and rejects at once while the server is unreachable. */
  define(script: Script): RunScript {
    const run = this.#define(script)
    return (keys, args) => (this.available ? run(keys, args) : Promise.reject(this.#unreachableError()))
  }

  /** Publishes a message to the subscribers of a channel. Rejects at once while the server is unreachable. */
  async publish(channel: string, message: string): Promise<void> {
    if (!this.available) throw this.#unreachableError()
    await this.#client.publish(channel, message)
  }

  /** Sets a key to bytes for some seconds. Rejects at once while the server is unreachable. */
  async put(key: string, bytes: Uint8Array, seconds: number): Promise<void> {
    if (!this.available) throw this.#unreachableError()
    await this.#client.set(key, Buffer.from(bytes), 'EX', seconds)
  }

  /** Returns the bytes of keys, or null for one that is not set. Rejects at once while the server is unreachable. */
  async readAll(keys: readonly string[]): Promise<(Uint8Array | null)[]> {
    if (!this.available) throw this.#unreachableError()
    return this.#client.mgetBuffer(...keys)
  }

  /** Returns another, unconnected connection to the same server: a subscription needs its own. */
  duplicate(): Redis {
    return new Redis(this.#socket)
  }

  /** Closes the connection and tells the other processes that this one is gone. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return
    const wasAvailable = this.available
    this.#state = 'closed'
    this.#options.clock.clearTimeout(this.#nextBeat)
    if (wasAvailable) {
      this.#notifyListeners(false)
      const { clock } = this.#options
      const late = Promise.withResolvers<void>()
      const timer = clock.setTimeout(late.resolve, FAREWELL_MS)
      const farewell = this.#client.zrem(this.processesKey, this.id).catch(() => undefined)
      await Promise.race([farewell, late.promise])
      clock.clearTimeout(timer)
    }
    this.#client.disconnect()
  }

  #define({ name, keys, lua }: Script): RunScript {
    this.#client.defineCommand(name, keys === null ? { lua } : { numberOfKeys: keys, lua })
    const client = this.#client as unknown as Record<string, (...all: unknown[]) => Promise<unknown>>
    return keys === null
      ? (given, args) => client[name]!(given.length, ...given, ...args)
      : (given, args) => client[name]!(...given, ...args)
  }

  #unreachableError(): ServiceError {
    return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `Redis is unreachable: ${this.#detail}`)
  }

  async #takeBeat(life: number): Promise<void> {
    const { clock } = this.#options
    try {
      const reply = await this.#beat([this.processesKey, this.memoryKey], [this.id])
      const [processes, nowMs] = beatReply.parse(reply)
      if (life !== this.#life || this.#state === 'closed') return
      this.#noteBeat(processes, nowMs)
      this.#arrive()
    } catch (error) {
      if (life !== this.#life || this.#state === 'closed') return
      this.#noteError(error as Error)
      this.#leave()
    }
    clock.clearTimeout(this.#nextBeat)
    this.#nextBeat = clock.setTimeout(() => void this.#takeBeat(life), BEAT_MS)
  }

  #noteBeat(processes: number, nowMs: number): void {
    this.#counts = [...this.#counts, processes].slice(-BEATS_MAX)
    this.#serverAheadMs = nowMs - this.#options.clock.now()
  }

  /** Handles the end of a socket, on which all calls in flight have failed. */
  #end(detail: string): void {
    this.#life++
    this.#options.clock.clearTimeout(this.#nextBeat)
    if (this.#detail === '') this.#detail = detail
    this.#leave()
  }

  #noteError(error: Error): void {
    this.#detail = detailOf(error)
    if (error.name !== 'ReplyError') return
    const isRedirected = this.#kind === 'cluster' && REDIRECTION.test(error.message)
    if (this.#state === 'starting' && REFUSAL.test(error.message) && !isRedirected) {
      const settings =
        this.#kind === 'sentinel'
          ? 'MILLRACE_REDIS_URL and MILLRACE_REDIS_SENTINEL_PASSWORD'
          : 'MILLRACE_REDIS_URL'
      const message = `Redis at ${this.#place} refuses: ${error.message}; check ${settings}`
      this.#started.reject(new ServiceError(ERRORS.STORAGE_UNAVAILABLE, message, { cause: error }))
    }
    // The driver continues with database 0 if the configured database is refused.
    if (this.#client.status === 'connect') this.#client.disconnect(true)
  }

  #arrive(): void {
    const before = this.#state
    if (before === 'available') return
    this.#state = 'available'
    this.#detail = ''
    this.#started.resolve()
    if (before === 'away') {
      const seconds = Math.round((this.#options.clock.now() - this.#unreachableSinceMs) / 1000)
      this.#options.logger.info(`Redis at ${this.#place} is back after ${seconds} s`)
    }
    this.#notifyListeners(true)
  }

  #leave(): void {
    if (this.#state === 'away' || this.#state === 'closed') return
    this.#state = 'away'
    this.#unreachableSinceMs = this.#options.clock.now()
    this.#options.logger.warn(
      `Redis at ${this.#place} is unreachable (${this.#detail}); retrying. Until then each process enforces ` +
        'its own share of every quota, the store is polled for new blocks, and ingest continues'
    )
    this.#started.resolve()
    this.#notifyListeners(false)
  }

  #notifyListeners(available: boolean): void {
    for (const listener of this.#listeners) listener(available)
  }
}

/** Returns the text of an error. For a name with several failing addresses Node gives only their common code. */
function detailOf(error: Error & { readonly code?: unknown }): string {
  if (error.message !== '') return error.message
  return typeof error.code === 'string' ? error.code : error.name
}
