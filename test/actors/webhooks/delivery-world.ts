import { Registry } from 'prom-client'
import { WebhookDelivery } from '../../../actors/webhooks/delivery.ts'
import type { DeliveryDeps } from '../../../actors/webhooks/delivery-deps.ts'
import { AttemptLog } from '../../../actors/webhooks/attempt-log.ts'
import { PastReader } from '../../../actors/webhooks/past-reader.ts'
import type { ShardClaim } from '../../../actors/shards/shard-claims.ts'
import { ProgressStore } from '../../../actors/webhooks/progress-store.ts'
import { webhookMetrics } from '../../../src/webhooks/metrics.ts'
import { WEBHOOK } from '../../../src/webhooks/webhook.ts'
import { attemptsIn, readAttempt } from '../../../src/webhooks/attempt-line.ts'
import type {
  DeliveryAttempt,
  PostOutcome,
  Webhook,
  WebhookPost,
  WebhookProgress,
  WebhookSender
} from '../../../src/webhooks/webhook.ts'
import type { TenantEvent } from '../../../storage/cluster/coordination.ts'
import { WebhookChanges } from '../../../src/webhooks/changes.ts'
import { Documents, type Stored } from '../../../storage/documents.ts'
import { MemoryDocuments } from './memory-documents.ts'
import { World, WorldStore } from '../../stream/stream-world.ts'
import { sampleWebhook } from '../../webhooks/stored-webhook.ts'
import { virtualClock, type VirtualClock } from '../../virtual-time.ts'
import { tenantShard } from '../../../src/access/tenant-shard.ts'
import { TURNS_AT_ONCE } from '../../../src/kernel/work/turns.ts'

/** A batch as a receiver reads it. */
export interface ReceivedBody {
  readonly webhook_id: number
  readonly batch_id: string
  readonly batch_ts: number
  readonly cursor: number
  readonly events: readonly { readonly channel: string; readonly data: { readonly cursor: number } }[]
  readonly dropped?: number
  readonly missed?: { readonly from_cursor: number; readonly to_cursor: number }
}

export interface Received {
  readonly atMs: number
  readonly text: string
  readonly body: ReceivedBody
  readonly headers: WebhookPost['headers']
  /** Token of the process that sent it. */
  readonly token: number
  answer(outcome: Answer): void
}

/** A status, a status with Retry-After in milliseconds, or the word of a failure. */
export type Answer = number | readonly [status: number, retryAfterMs: number] | string

function outcomeOf(answer: Answer): PostOutcome {
  if (typeof answer === 'string') return { kind: 'failed', error: answer, durationMs: 1 }
  const [status, retryAfterMs] = typeof answer === 'number' ? [answer, null] : answer
  return { kind: 'answered', status, retryAfterMs, durationMs: 1 }
}

/** A receiver that answers at once as `answers` says; the last answer repeats. With null, the test answers. */
export class FakeReceiver {
  readonly received: Received[] = []
  answers: readonly (Answer | null)[] = [200]
  aborted = 0
  readonly #clock: VirtualClock

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  post({ body, headers }: WebhookPost, signal: AbortSignal, token: number): Promise<PostOutcome> {
    const { promise, resolve } = Promise.withResolvers<PostOutcome>()
    const text = Buffer.from(body).toString()
    const answer = (given: Answer): void => resolve(outcomeOf(given))
    const parsed = JSON.parse(text) as ReceivedBody
    this.received.push({ atMs: this.#clock.now(), text, body: parsed, headers, token, answer })
    const next = this.answers.length > 1 ? this.answers[0]! : (this.answers[0] ?? null)
    if (this.answers.length > 1) this.answers = this.answers.slice(1)
    if (next !== null) answer(next)
    const abort = (): void => {
      this.aborted++
      answer('aborted')
    }
    signal.addEventListener('abort', abort)
    void promise.then(() => signal.removeEventListener('abort', abort))
    return promise
  }

  get cursors(): number[] {
    return this.received.flatMap(({ body }) => body.events.map(({ data }) => data.cursor))
  }
}

/** A claim that the test ends. */
export function testClaim(token: number): ShardClaim & { lose(): void; held: boolean } {
  const lost = new AbortController()
  return {
    token,
    lost: lost.signal,
    held: true,
    outranked: () => lost.abort(new Error('outranked')),
    lose: () => lost.abort(new Error('lost'))
  }
}

/** A process that delivers to one webhook, on a store that outlives it, in virtual time. */
export class DeliveryWorld {
  readonly clock = virtualClock()
  readonly chain = new WorldStore()
  readonly receiver = new FakeReceiver(this.clock)
  readonly store = new MemoryDocuments()
  readonly documents: Documents<Webhook, never, 'slot', WebhookProgress> = new Documents(this.store, WEBHOOK)
  stream = new World(this.chain)
  id = 7
  horizon = -1
  ids = 0
  token = 0
  claim = testClaim(0)
  delivery: WebhookDelivery | null = null
  running: Promise<void> = Promise.resolve()
  faults: unknown[] = []
  readonly metrics = webhookMetrics(new Registry())
  /** Published changes of webhooks. */
  readonly published: TenantEvent['data'][] = []
  readonly #changes = new WebhookChanges(({ data }) => this.published.push(data), this.clock)
  #end = new AbortController()

  async create(changes: Partial<Webhook> = {}): Promise<Stored<Webhook>> {
    const outcome = await this.documents.insert(sampleWebhook({ id: this.id, ...changes }))
    if (!outcome.ok) throw new Error(outcome.reason)
    return outcome.stored
  }

  async stored(): Promise<Stored<Webhook>> {
    return (await this.documents.get(tenantShard('acme'), ['acme', this.id]))!
  }

  /** Changes the webhook as its owner does. */
  async change(changes: Partial<Webhook>): Promise<Stored<Webhook>> {
    const stored = await this.stored()
    const outcome = await this.documents.update(stored, { ...stored.value, ...changes })
    if (!outcome.ok) throw new Error(outcome.reason)
    return outcome.stored
  }

  async progress(): Promise<WebhookProgress | null> {
    return (await this.documents.hot([await this.stored()]))[0]!
  }

  /** The attempts stored with the progress, oldest first. */
  async attempts(): Promise<DeliveryAttempt[]> {
    return attemptsIn((await this.progress())?.attempts ?? '').map(readAttempt)
  }

  deps(): DeliveryDeps {
    const { clock, receiver, stream, token } = this
    const sender: WebhookSender = {
      post: (_tenant, request, signal) => receiver.post(request, signal, token)
    }
    return {
      hub: stream.hub,
      past: new PastReader(this.chain, TURNS_AT_ONCE, (ask) => ask()),
      horizon: () => this.horizon,
      sender,
      signer: {
        headers: ({ secrets }, { id, attempt }) => ({
          'webhook-id': id,
          attempt: String(attempt),
          secret: Buffer.from(secrets[0]?.sealed ?? []).toString()
        })
      },
      slices: { run: (work) => work() },
      clock,
      random: () => 0,
      newBatchId: () => `batch-${++this.ids}`,
      metrics: this.metrics,
      changes: this.#changes
    }
  }

  /** Creates a webhook in place of the previous one, whose process has ended. */
  async replace(changes: Partial<Webhook>): Promise<Stored<Webhook>> {
    await this.documents.delete(await this.stored())
    return this.create({ ...changes, id: ++this.id })
  }

  /** Starts a process on the existing stores, with a greater token. */
  start(stored: Stored<Webhook>): void {
    this.stream = new World(this.chain)
    this.#end = new AbortController()
    this.claim = testClaim(++this.token)
    const store = new ProgressStore(this.store, this.claim, this.clock)
    const log = new AttemptLog(this.store, stored.value, (fault) => this.faults.push(fault))
    this.delivery = new WebhookDelivery(stored, store, log, this.deps())
    const end = AbortSignal.any([this.#end.signal, this.claim.lost])
    this.running = this.delivery.run(end).catch((fault: unknown) => {
      if (!end.aborted) this.faults.push(fault)
    })
  }

  /**
   * Starts a process while the previous one continues, cut off from its leases. Returns the previous one's hub and
   * its end.
   */
  async takeOver(): Promise<{ readonly stream: World; end(): Promise<void> }> {
    const [stream, running, stop] = [this.stream, this.running, this.#end]
    this.claim.held = false
    this.start(await this.stored())
    return {
      stream,
      end: () => {
        stop.abort()
        return running
      }
    }
  }

  /** Ends the process as a kill does: whatever it has not written is lost. */
  async kill(): Promise<void> {
    this.#end.abort()
    await this.running
  }
}
