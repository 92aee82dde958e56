import { randomUUID } from 'node:crypto'
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '../../src/errors.ts'
import type { Ports } from '../../src/ports.ts'

/** A server that has been asked and says nothing for so long is away: the socket is given up. Chosen. */
const ANSWER_MS = 1_500
/** Between two attempts to reach a server that is away, doubled up to the ceiling; half of it is jitter. Chosen. */
const RETRY_MS = { floor: 50, ceiling: 1_000 }
/** How often each process says that it is alive. Chosen. */
const BEAT_MS = 1_000
/** A process that has not said so for this long is not counted. Chosen. */
const PRESENCE_MS = 5_000
/**
 * The number of processes falls when so many beats in a row have seen fewer: a server that was restarted counts those first
 * that are back first.
 */
const BEATS_KEPT = 10
/** What a process that ends waits for its last word to arrive. Chosen. */
const FAREWELL_MS = 200

/** Answers to a start that waiting does not mend. */
const REFUSAL = /^(ERR|MOVED|NOAUTH|NOPERM|WRONGPASS)\b/

/** A script of the server, with the number of keys that come before its arguments. */
export interface Script {
  readonly name: string
  readonly keys: number
  readonly lua: string
}

/** Runs a script in one round trip; rejects at once while the server is away. */
export type RunScript = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>

export interface RedisConnectionOptions extends Ports {
  /** `redis://user:password@host:port/database`, or `rediss:` for TLS. */
  readonly url: string
  /** Before each key and channel; two services on one server have different ones. */
  readonly prefix?: string
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/**
 * Sets down that a process is alive, and since when the server has forgotten nothing. What needs memory comes first, for a
 * server without any lets a script go on that has written something.
 */
const BEAT: Script = {
  name: 'millraceBeat',
  keys: 2,
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
local memory = redis.call('HMGET', KEYS[2], 'run', 'since')
if memory[1] ~= run or tonumber(memory[2]) > now then
  redis.call('HSET', KEYS[2], 'run', run, 'since', string.format('%.0f', now))
end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ARGV[2], '+inf')
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
return { redis.call('ZCARD', KEYS[1]), now }`
}
const beatReply = z.tuple([z.int().positive(), z.int().positive()])

/**
 * The connection of a process to the Redis that it shares with others. It reconnects for ever, with bounded pauses, and
 * keeps nothing for later: what is asked of a server that is away fails at once.
 *
 * R1. It is available from the first answered beat to the first unanswered one, or to the end of its socket.
 * R2. It says so once when it goes away, and once when it is back.
 */
export class RedisConnection {
  /** Of this process, as long as it lives; others do not have it. */
  readonly id = randomUUID()
  readonly #options: RedisConnectionOptions
  readonly #socket: ReturnType<typeof socketOptions>
  readonly #client: Redis
  readonly #beat: RunScript
  readonly #listeners = new Set<(available: boolean) => void>()
  readonly #started = Promise.withResolvers<void>()
  #state: 'starting' | 'available' | 'away' | 'closed' = 'starting'
  #awaySinceMs = 0
  #detail = ''
  #counts: number[] = []
  #serverAheadMs = 0
  /** Of the socket: a beat that was sent on another one says nothing of this. */
  #life = 0
  #nextBeat: unknown

  private constructor(options: RedisConnectionOptions) {
    this.#options = options
    this.#socket = socketOptions(options)
    this.#client = new Redis(this.#socket)
    this.#beat = this.#define(BEAT)
    this.#client.on('ready', () => void this.#takeBeat(++this.#life))
    this.#client.on('error', (error: Error) => this.#hear(error))
    this.#client.on('close', () => this.#end('the connection was closed'))
  }

  /**
   * Connects, once. A server that cannot be reached is away, and is looked for from then on; within 4 s it is known
   * which. Rejects with STORAGE_UNAVAILABLE when it answers and refuses, as for a wrong password.
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

  /** Since when the server is away, and what was heard last; null while it is not. */
  get outage(): { readonly sinceMs: number; readonly detail: string } | null {
    return this.#state === 'away' ? { sinceMs: this.#awaySinceMs, detail: this.#detail } : null
  }

  /** Processes of this service that were known to be alive, this one included; null when that was never known. */
  get processes(): number | null {
    return this.#counts.length === 0 ? null : Math.max(...this.#counts)
  }

  /** What the server's clock says, as far as is known: unix milliseconds, late by a round trip. */
  get serverNowMs(): number {
    return this.#options.clock.now() + this.#serverAheadMs
  }

  /** Where the server keeps since when it has forgotten nothing: a hash, whose field `since` is in unix milliseconds. */
  get memoryKey(): string {
    return this.key('memory')
  }

  /** A key or channel of this service. */
  key(...parts: readonly string[]): string {
    return (this.#options.prefix ?? 'millrace:') + parts.join(':')
  }

  /** Calls `listener` at each change, until the returned function is called. */
  onChange(listener: (available: boolean) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Makes a script ready to run. */
  define(script: Script): RunScript {
    const run = this.#define(script)
    return (keys, args) => (this.available ? run(keys, args) : Promise.reject(this.#awayError()))
  }

  /** Tells whoever subscribes to a channel; rejects at once while the server is away. */
  async publish(channel: string, message: string): Promise<void> {
    if (!this.available) throw this.#awayError()
    await this.#client.publish(channel, message)
  }

  /** Another connection to the same server, for a subscription, which needs one of its own. It is not yet connected. */
  duplicate(): Redis {
    return new Redis(this.#socket)
  }

  /** Ends it, and lets the others know that this process is gone. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return
    const wasAvailable = this.available
    this.#state = 'closed'
    this.#options.clock.clearTimeout(this.#nextBeat)
    if (wasAvailable) {
      this.#tellListeners(false)
      const { clock } = this.#options
      const late = Promise.withResolvers<void>()
      const timer = clock.setTimeout(late.resolve, FAREWELL_MS)
      const farewell = this.#client.zrem(this.key('processes'), this.id).catch(() => undefined)
      await Promise.race([farewell, late.promise])
      clock.clearTimeout(timer)
    }
    this.#client.disconnect()
  }

  #define({ name, keys, lua }: Script): RunScript {
    this.#client.defineCommand(name, { numberOfKeys: keys, lua })
    const client = this.#client as unknown as Record<string, (...all: unknown[]) => Promise<unknown>>
    return (keys, args) => client[name]!(...keys, ...args)
  }

  #awayError(): ServiceError {
    return new ServiceError('STORAGE_UNAVAILABLE', `Redis is away: ${this.#detail}`)
  }

  async #takeBeat(life: number): Promise<void> {
    const { clock } = this.#options
    try {
      const reply = await this.#beat([this.key('processes'), this.memoryKey], [this.id, PRESENCE_MS])
      const [processes, nowMs] = beatReply.parse(reply)
      if (life !== this.#life || this.#state === 'closed') return
      this.#counts = [...this.#counts, processes].slice(-BEATS_KEPT)
      this.#serverAheadMs = nowMs - clock.now()
      this.#arrive()
    } catch (error) {
      if (life !== this.#life || this.#state === 'closed') return
      this.#hear(error as Error)
      this.#leave()
    }
    this.#nextBeat = clock.setTimeout(() => void this.#takeBeat(life), BEAT_MS)
  }

  /** A socket has ended, with whatever waited on it. */
  #end(detail: string): void {
    this.#life++
    this.#options.clock.clearTimeout(this.#nextBeat)
    if (this.#detail === '') this.#detail = detail
    this.#leave()
  }

  #hear(error: Error): void {
    this.#detail = detailOf(error)
    if (error.name !== 'ReplyError') return
    if (this.#state === 'starting' && REFUSAL.test(error.message)) {
      const message = `Redis at ${addressOf(this.#socket)} refuses: ${error.message}; look at MILLRACE_REDIS_URL`
      this.#started.reject(new ServiceError('STORAGE_UNAVAILABLE', message, { cause: error }))
    }
    // The driver goes on with the database 0 when it may not have the one that it was told.
    if (this.#client.status === 'connect') this.#client.disconnect(true)
  }

  #arrive(): void {
    const before = this.#state
    if (before === 'available') return
    this.#state = 'available'
    this.#detail = ''
    this.#started.resolve()
    if (before === 'away') {
      const seconds = Math.round((this.#options.clock.now() - this.#awaySinceMs) / 1000)
      this.#options.logger.info(`Redis at ${addressOf(this.#socket)} is back after ${seconds} s`)
    }
    this.#tellListeners(true)
  }

  #leave(): void {
    if (this.#state === 'away' || this.#state === 'closed') return
    this.#state = 'away'
    this.#awaySinceMs = this.#options.clock.now()
    this.#options.logger.warn(
      `Redis at ${addressOf(this.#socket)} is away (${this.#detail}); it is tried again until it answers. Meanwhile each ` +
        'process counts calls in a share of its own, the store is polled for new blocks, and the process that ingests goes on'
    )
    this.#started.resolve()
    this.#tellListeners(false)
  }

  #tellListeners(available: boolean): void {
    for (const listener of this.#listeners) listener(available)
  }
}

/** Of a URL only what it is for: the driver would take any of its settings from the query. */
function socketOptions({ url, random }: Pick<RedisConnectionOptions, 'url' | 'random'>) {
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const database = pathname.slice(1)
  if (!/^\d{0,4}$/.test(database)) {
    throw new ServiceError(
      'STORAGE_UNAVAILABLE',
      'the path of MILLRACE_REDIS_URL is not the number of a database'
    )
  }
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 6379 : Number(port),
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
    db: Number(database),
    connectionName: 'millrace',
    lazyConnect: true,
    connectTimeout: ANSWER_MS,
    socketTimeout: ANSWER_MS,
    disconnectTimeout: FAREWELL_MS,
    retryStrategy: (attempt: number) => {
      const pause = Math.min(RETRY_MS.ceiling, RETRY_MS.floor * 2 ** Math.min(attempt - 1, 10))
      return pause * (0.5 + random() / 2)
    },
    // Nothing waits for a server that is away, and nothing is sent twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Whoever subscribes does it at each connection; the driver would leave a failure of its own unheard.
    autoResubscribe: false,
    // Of a server that became a replica only another connection can tell who leads now.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY')
  } satisfies RedisOptions
}

function addressOf({ host, port }: RedisOptions): string {
  return `${host}:${port}`
}

/** Node says of several failed addresses of a name only what they have in common, which is a code. */
function detailOf(error: Error & { readonly code?: unknown }): string {
  if (error.message !== '') return error.message
  return typeof error.code === 'string' ? error.code : error.name
}
