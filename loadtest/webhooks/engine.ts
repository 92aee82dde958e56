import { Registry } from 'prom-client'
import { randomUUID } from 'node:crypto'
import { PastReader } from '../../actors/webhooks/past-reader.ts'
import { PooledSender } from '../../actors/webhooks/sender.ts'
import { TurnSlices } from '../../actors/webhooks/turn-slices.ts'
import { DynamicSupervisor } from '../../actors/supervision/dynamic-supervisor.ts'
import { DELIVERY_POLICY } from '../../actors/webhooks/owned-webhook.ts'
import { WebhookShard } from '../../actors/webhooks/shard.ts'
import type { WebhookDelivery } from '../../actors/webhooks/delivery.ts'
import { retryWhileUnavailable } from '../../actors/storage/retry.ts'
import { systemPorts } from '../../src/ports.ts'
import { ChannelHistory } from '../../src/stream/channel-history.ts'
import { StreamHub } from '../../src/stream/hub.ts'
import { webhookMetrics } from '../../src/webhooks/metrics.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { WebhookChanges } from '../../src/webhooks/changes.ts'
import { UrlGuard } from '../../src/webhooks/url-guard.ts'
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.ts'
import { WEBHOOK, type Webhook, type WebhookPost, type WebhookProgress } from '../../src/webhooks/webhook.ts'
import { Documents } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { sampleWebhook } from '../../test/webhooks/stored-webhook.ts'
import { cash, channelNamed, commitOf, FIRST_SLOT } from '../stream/trades.ts'
import { pathOf, type Plan } from './plan.ts'
import { SHARD_NAMES } from '../../src/access/tenant-shard.ts'
import { TURNS_AT_ONCE } from '../../src/kernel/work/turns.ts'

const WEBHOOKS_PER_TENANT = 5
const INSERTED_AT_ONCE = 500
const TOKEN = 1

/** The delivery of webhooks as the service does it, on an embedded store, without a chain. */
export class Engine {
  readonly storage: Storage
  readonly feed = new CommitFeed()
  readonly #hub: StreamHub
  readonly #sender: PooledSender
  readonly #secrets = new WebhookSecrets(new Uint8Array(32).fill(7))
  readonly #documents: Documents<Webhook, never, 'slot', WebhookProgress>
  #shards: WebhookShard[] = []
  readonly #supervisor = new DynamicSupervisor(DELIVERY_POLICY, { ...systemPorts, report })
  /** Called with each POST, while bodies are collected. */
  onPost: ((post: WebhookPost) => void) | null = null

  private constructor(storage: Storage) {
    this.storage = storage
    this.#documents = new Documents(storage.documents, WEBHOOK)
    this.#hub = new StreamHub(this.feed, cash, report)
    this.#hub.follow()
    const guard = new UrlGuard({ allowPrivate: true })
    this.#sender = new PooledSender({ guard, clock: systemPorts.clock })
  }

  static async open(directory: string): Promise<Engine> {
    const storage = await openEmbeddedStorage({ directory })
    await storage.blocks.claim(null)
    const engine = new Engine(storage)
    // The first block after a start is read from the store, so it has no events.
    await engine.feed.commit(commitOf(FIRST_SLOT - 1, []), storage.blocks)
    return engine
  }

  get deliveries(): WebhookDelivery[] {
    return this.#shards.flatMap(({ deliveries }) => deliveries)
  }

  get restarts(): number {
    return this.#supervisor.restarts
  }

  /** Stores webhooks, five for each tenant, on the ports of the receivers in turn. */
  async insert(plans: readonly Plan[], ports: readonly number[]): Promise<void> {
    for (let from = 0; from < plans.length; from += INSERTED_AT_ONCE) {
      const inserted = plans.slice(from, from + INSERTED_AT_ONCE).map((plan) => {
        const origin = `http://127.0.0.1:${ports[plan.n % ports.length]!}`
        return this.#documents.insert(this.#webhook(plan, origin + pathOf(plan)))
      })
      for (const outcome of await Promise.all(inserted))
        if (!outcome.ok) throw new Error(`a new store refuses a webhook: ${outcome.reason}`)
    }
  }

  /** Starts the deliveries of all stored webhooks, and resolves when all are idle. */
  async start(): Promise<void> {
    const { storage } = this
    const { clock, random } = systemPorts
    const retry = retryWhileUnavailable(storage, clock)
    const deps = {
      hub: this.#hub,
      past: new PastReader(new ChannelHistory(storage, cash), TURNS_AT_ONCE, retry),
      horizon: () => -1,
      sender: {
        post: (...[tenant, post, signal]: Parameters<PooledSender['post']>) => {
          this.onPost?.(post)
          return this.#sender.post(tenant, post, signal)
        }
      },
      signer: this.#secrets,
      slices: new TurnSlices(),
      clock,
      random,
      newBatchId: () => randomUUID(),
      metrics: webhookMetrics(new Registry()),
      documents: storage.documents,
      changes: new WebhookChanges(() => undefined, clock),
      deliveries: this.#supervisor,
      report
    }
    const claim = { token: TOKEN, lost: new AbortController().signal, held: true, outranked: () => undefined }
    this.#shards = SHARD_NAMES.map((name) => new WebhookShard(name, claim, deps))
    for (const shard of this.#shards) await shard.sync()
  }

  #webhook(plan: Plan, url: string): Webhook {
    const [tenant, id] = [`tenant-${Math.floor(plan.n / WEBHOOKS_PER_TENANT)}`, plan.n + 1]
    const { secrets, secretHint } = this.#secrets.make({ tenant, id })
    const channels = Array.from({ length: plan.count }, (_, i) => channelNamed('trades', plan.first + i))
    return sampleWebhook({
      tenant,
      id,
      slot: plan.n % WEBHOOKS_PER_TENANT,
      url,
      channels,
      secrets,
      secretHint
    })
  }
}

const report = (fault: unknown): void => void process.stderr.write(`${String(fault)}\n`)
