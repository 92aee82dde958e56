import { Pool } from '../../src/node/undici.ts'
import type { Clock } from '../../src/ports.ts'
import { version } from '../../src/version.ts'
import { postErrorOf, type PostError } from '../../src/webhooks/post-error.ts'
import type { UrlGuard } from '../../src/webhooks/url-guard.ts'
import type { PostOutcome, WebhookPost, WebhookSender } from '../../src/webhooks/webhook.ts'
import { readWebhookUrl, type WebhookTarget } from '../../src/webhooks/webhook-url.ts'
import { guardedConnector } from './guarded-connector.ts'
import { Places } from './places.ts'
import { PostAttempt } from './post-attempt.ts'
import { SocketClient } from './socket-client.ts'

export interface SenderTuning {
  /** Milliseconds from the start of an attempt, its resolution of the host included, to the last byte of the answer. */
  readonly deadlineMs: number
  /** Maximum POSTs in flight. */
  readonly concurrency: number
  /** Maximum POSTs in flight of one tenant. */
  readonly tenantConcurrency: number
  /** Maximum waiting POSTs of one tenant; further ones fail at once. */
  readonly tenantWaitingMax: number
  /** Maximum origins with open connections. */
  readonly poolsMax: number
  /** Milliseconds after which connections are replaced, so that a change of the host's addresses is followed. */
  readonly connectionAgeMs: number
  /** Milliseconds that a connection is kept without a POST, unless the receiver states another time. */
  readonly idleMs: number
  /** Bytes of an answer's body that are read before the connection is closed. */
  readonly answerBytesMax: number
}

/**
 * 10 s is the documented deadline (src/docs/webhooks.md). A tenant has five webhooks with one POST each, and tests beside them. 512
 * sockets are half of the smallest usual limit of open files. Common servers close idle connections after 5 s or more.
 */
export const SENDER_TUNING: SenderTuning = {
  deadlineMs: 10_000,
  concurrency: 512,
  tenantConcurrency: 8,
  tenantWaitingMax: 32,
  poolsMax: 2_048,
  connectionAgeMs: 60_000,
  idleMs: 4_000,
  answerBytesMax: 16 * 1024
}

export interface SenderOptions {
  readonly guard: UrlGuard
  readonly clock: Clock
  readonly tuning?: Partial<SenderTuning>
  /** Further certificate authorities, in PEM. */
  readonly ca?: string
}

/** Share of all POSTs in flight that receivers may have whose last POST timed out. */
const SLOW_SHARE = 0.5
/** Receivers remembered as slow. Arbitrary; nothing depends on it but memory. */
const SLOW_URLS_MAX = 10_000

const HEADERS = { 'content-type': 'application/json', 'user-agent': `Millrace-Webhooks/${version}` } as const

interface OpenPool {
  readonly pool: Pool
  readonly timer: unknown
}

/**
 * Sends POSTs to receivers. A POST waits for a place of its tenant first, and only then for one of the process. So a
 * tenant's waiting POSTs hold no place that others could use. Receivers that hang have at most half of the places together.
 */
export class PooledSender implements WebhookSender {
  readonly #tuning: SenderTuning
  readonly #clock: Clock
  readonly #connect: ReturnType<typeof guardedConnector>
  readonly #places: Places
  readonly #slowPlaces: Places
  readonly #tenants = new Map<string, Places>()
  /** By origin, the least recently used first. */
  readonly #pools = new Map<string, OpenPool>()
  readonly #slowUrls = new Set<string>()
  /** Those that wait, and those in flight. */
  readonly #attempts = new Set<PostAttempt>()
  #isClosed = false

  constructor({ guard, clock, tuning, ca }: SenderOptions) {
    this.#clock = clock
    this.#tuning = { ...SENDER_TUNING, ...tuning }
    const { concurrency, deadlineMs } = this.#tuning
    this.#connect = guardedConnector(guard, { timeoutMs: deadlineMs, ...(ca !== undefined && { ca }) })
    this.#places = new Places(concurrency)
    this.#slowPlaces = new Places(Math.max(Math.floor(concurrency * SLOW_SHARE), 1))
  }

  /** Number of POSTs in flight. */
  get inFlight(): number {
    return this.#places.taken
  }

  /** Number of POSTs that wait for a place. */
  get waiting(): number {
    const ofTenants = [...this.#tenants.values()].reduce((sum, { waiting }) => sum + waiting, 0)
    return ofTenants + this.#slowPlaces.waiting + this.#places.waiting
  }

  /** Number of origins with connections. */
  get origins(): number {
    return this.#pools.size
  }

  async post(tenant: string, request: WebhookPost, signal: AbortSignal): Promise<PostOutcome> {
    const reading = readWebhookUrl(request.url)
    if (reading.kind === 'refused') return failed('url_not_allowed')
    const ofTenant = this.#placesOf(tenant)
    if (ofTenant.waiting >= this.#tuning.tenantWaitingMax) return failed('too_many_posts')
    const { deadlineMs, answerBytesMax } = this.#tuning
    const attempt = new PostAttempt({
      clock: this.#clock,
      signal,
      waitMs: request.waitMs,
      deadlineMs,
      answerBytesMax
    })
    this.#attempts.add(attempt)
    if (this.#isClosed) attempt.end('aborted')
    const isSlow = this.#slowUrls.has(request.url)
    const needed = isSlow ? [ofTenant, this.#slowPlaces, this.#places] : [ofTenant, this.#places]
    let entered = 0
    const enterNext = (): void => {
      if (entered < needed.length) return needed[entered++]!.enter(enterNext)
      this.#start(attempt, reading.target, request)
      void attempt.outcome.then(() => {
        for (const places of needed) places.leave()
        if (ofTenant.taken === 0) this.#tenants.delete(tenant)
      })
    }
    enterNext()
    const outcome = await attempt.outcome
    this.#attempts.delete(attempt)
    this.#note(request.url, outcome)
    return outcome
  }

  /** Ends all POSTs as `aborted`, and closes all connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const attempt of this.#attempts) attempt.end('aborted')
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    for (const { timer } of pools) this.#clock.clearTimeout(timer)
    await Promise.all(pools.map(({ pool }) => pool.destroy()))
  }

  #placesOf(tenant: string): Places {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) return known
    const places = new Places(this.#tuning.tenantConcurrency)
    this.#tenants.set(tenant, places)
    return places
  }

  /** Starts an attempt that has its places, unless it was aborted while it waited. */
  #start(attempt: PostAttempt, { origin, path }: WebhookTarget, request: WebhookPost): void {
    if (attempt.isDone) return
    const headers = { ...HEADERS, ...request.headers }
    try {
      attempt.start(this.#poolOf(origin), { method: 'POST', path, headers, body: request.body })
    } catch (error) {
      // The connection cannot even be begun. The rules for URLs exclude this.
      attempt.end(postErrorOf(error))
    }
  }

  /** Remembers whether a receiver hangs. */
  #note(url: string, outcome: PostOutcome): void {
    const isSlow = outcome.kind === 'failed' && outcome.error === 'timeout'
    if (!isSlow) this.#slowUrls.delete(url)
    else if (this.#slowUrls.size < SLOW_URLS_MAX) this.#slowUrls.add(url)
  }

  #poolOf(origin: string): Pool {
    const known = this.#pools.get(origin)
    if (known !== undefined) {
      this.#pools.delete(origin)
      this.#pools.set(origin, known)
      return known.pool
    }
    const { poolsMax, connectionAgeMs, idleMs } = this.#tuning
    for (const [oldest] of this.#pools) if (this.#pools.size >= poolsMax) this.#retire(oldest)
    const pool = new Pool(origin, {
      connect: this.#connect,
      factory: (url, options) => new SocketClient(url, { ...options, connect: this.#connect }),
      // A receiver of any tenant gets a connection when it needs one: the places are the limit.
      connections: null,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: connectionAgeMs,
      // The deadline covers the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0
    })
    const timer = this.#clock.setTimeout(() => this.#retire(origin), connectionAgeMs)
    this.#pools.set(origin, { pool, timer })
    return pool
  }

  /** Closes the connections of an origin when their POSTs have ended; the next POST opens new ones. */
  #retire(origin: string): void {
    const { pool, timer } = this.#pools.get(origin)!
    this.#pools.delete(origin)
    this.#clock.clearTimeout(timer)
    pool.close().catch(() => undefined)
  }
}

function failed(error: PostError): PostOutcome {
  return { kind: 'failed', error, durationMs: 0 }
}
