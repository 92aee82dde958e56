import { randomInt } from 'node:crypto'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { ServiceError } from '../kernel/errors.ts'
import type { Clock } from '../ports.ts'
import type { WebhookChange, WebhookChanges } from './changes.ts'
import type { UrlGuard, WebhookDeliveries, WebhookSecrets } from './ports.ts'
import { WEBHOOK, WEBHOOKS_PER_TENANT_MAX, type Webhook, type WebhookProgress } from './webhook.ts'
import { tenantShard } from '../access/tenant-shard.ts'
import { TenantChanges } from '../access/tenant-changes.ts'
import type { Rotation } from './rotation.ts'

/** Ids are below 2^48. */
const ID_BOUND = 2 ** 48
/** Maximum attempts when other processes change the webhooks concurrently; changes of this process are queued. */
const ATTEMPTS_MAX = 10

/** A webhook and the progress of its deliveries. */
export interface WebhookState {
  readonly webhook: Webhook
  /** Null before the first delivery. */
  readonly progress: WebhookProgress | null
}

/** A webhook with its current secret in clear text, for its owner alone. */
export interface ShownWebhook {
  readonly webhook: Webhook
  readonly secret: string
}

export interface RegistryDeps {
  readonly documents: DocumentStore
  readonly guard: UrlGuard
  readonly secrets: WebhookSecrets
  readonly deliveries: Pick<WebhookDeliveries, 'changed'>
  readonly changes: Pick<WebhookChanges, 'publish'>
  readonly clock: Pick<Clock, 'now'>
}

/** The facts of a new webhook that its owner states. */
interface NewWebhook {
  readonly url: string
  readonly channels: readonly string[]
}

type StoredWebhook = Stored<Webhook>

/** The tenants' webhooks in the store, created, changed and deleted by API requests. */
export class WebhookRegistry {
  readonly #documents: Documents<Webhook, never, 'slot', WebhookProgress>
  readonly #deps: RegistryDeps
  readonly #changes = new TenantChanges()

  constructor(deps: RegistryDeps) {
    this.#documents = new Documents(deps.documents, WEBHOOK)
    this.#deps = deps
  }

  /** Returns the webhooks of a tenant in order of creation. */
  async list(tenant: string): Promise<WebhookState[]> {
    const documents = await webhooksOf(this.#deps.documents, tenant)
    const progress = await this.#documents.hot(documents)
    return documents
      .map(({ value }, at) => ({ webhook: value, progress: progress[at] ?? null }))
      .sort((a, b) => a.webhook.createdAtMs - b.webhook.createdAtMs || a.webhook.id - b.webhook.id)
  }

  /** Rejects with WEBHOOK_NOT_FOUND. */
  async get(tenant: string, id: number): Promise<WebhookState> {
    return this.#withProgress(await this.find(tenant, id))
  }

  /** Rejects with WEBHOOK_NOT_FOUND. */
  async find(tenant: string, id: number): Promise<StoredWebhook> {
    const isId = Number.isSafeInteger(id) && id > 0 && id < ID_BOUND
    const found = isId ? await this.#documents.get(tenantShard(tenant), [tenant, id]) : null
    if (found === null) throw new ServiceError('WEBHOOK_NOT_FOUND', 'there is no webhook with this id')
    return found
  }

  /** Checks the URL of a new webhook and chooses its id. Rejects with URL_REFUSED. */
  async prepare(url: string): Promise<number> {
    await this.#deps.guard.check(url)
    return randomInt(1, ID_BOUND)
  }

  /** Creates a prepared webhook, or returns the webhook already created with its id. Rejects with WEBHOOK_LIMIT_REACHED. */
  create(of: Pick<Webhook, 'tenant' | 'id'>, request: NewWebhook): Promise<ShownWebhook> {
    return this.#changes.run(of.tenant, () => this.#create(of, request))
  }

  async #create(
    { tenant, id }: Pick<Webhook, 'tenant' | 'id'>,
    { url, channels }: NewWebhook
  ): Promise<ShownWebhook> {
    const { secrets, clock } = this.#deps
    const { secret, ...stored } = secrets.make({ tenant, id })
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const others = await webhooksOf(this.#deps.documents, tenant)
      const made = others.find(({ value }) => value.id === id)
      if (made !== undefined) return this.#shown(made.value)
      const slot = freeSlot(others)
      if (slot === null)
        throw new ServiceError(
          'WEBHOOK_LIMIT_REACHED',
          `this tenant has ${WEBHOOKS_PER_TENANT_MAX} webhooks, the most a tenant may have`
        )
      const nowMs = clock.now()
      const webhook: Webhook = {
        tenant,
        id,
        slot,
        url,
        channels: [...channels],
        ...stored,
        active: true,
        disabledAtMs: null,
        disabledReason: null,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
        activation: 1,
        since: null,
        failuresAtStart: 0
      }
      const outcome = await this.#documents.insert(webhook)
      if (!outcome.ok) continue
      this.#announce(webhook, { event: 'created' })
      return { webhook, secret }
    }
    throw busy(id)
  }

  /** Returns a webhook with its secret. Rejects with WEBHOOK_NOT_FOUND. */
  async show(tenant: string, id: number): Promise<ShownWebhook> {
    return this.#shown((await this.find(tenant, id)).value)
  }

  /** Rejects with WEBHOOK_NOT_FOUND. */
  delete(tenant: string, id: number): Promise<void> {
    return this.#changes.run(tenant, () => this.#delete(tenant, id))
  }

  async #delete(tenant: string, id: number): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const stored = await this.find(tenant, id)
      if (!(await this.#documents.delete(stored))) continue
      return this.#announce(stored.value, { event: 'deleted' })
    }
    throw busy(id)
  }

  /**
   * Activates a webhook. Deliveries begin after `since`, or with the next event if it is null. An active webhook
   * changes only with `since`. A repeated operation has no effect. Rejects with WEBHOOK_NOT_FOUND.
   */
  async enable(
    tenant: string,
    id: number,
    { since, operation }: { readonly since: number | null; readonly operation: string }
  ): Promise<WebhookState> {
    const enabled = await this.#change(tenant, id, 'enabled', ({ webhook, progress }) =>
      (webhook.active && since === null) || webhook.enabledBy === operation
        ? webhook
        : {
            ...webhook,
            active: true,
            disabledAtMs: null,
            disabledReason: null,
            activation: webhook.activation + 1,
            enabledBy: operation,
            since,
            failuresAtStart: webhook.active ? failuresOf({ webhook, progress }) : 0
          }
    )
    return this.#withProgress(enabled)
  }

  /**
   * Gives a webhook a new secret, and returns it. The current one signs as well, strictly before the given time. A repeated
   * operation returns the secret that it created; with `isDone` it creates no secret. Rejects with WEBHOOK_NOT_FOUND,
   * SECRET_LIMIT_REACHED, or IDEMPOTENCY_KEY_REUSED if that secret no longer signs.
   */
  async rotate(
    tenant: string,
    id: number,
    rotation: Omit<Rotation, 'nowMs'> & { readonly isDone: boolean }
  ): Promise<string> {
    const { secrets, clock } = this.#deps
    let secret = ''
    await this.#change(tenant, id, 'rotated', ({ webhook }) => {
      const done = webhook.secrets.find(({ operation }) => operation === rotation.operation)
      if (done !== undefined) {
        secret = secrets.open(webhook, done.sealed)
        return webhook
      }
      if (rotation.isDone)
        throw new ServiceError(
          'IDEMPOTENCY_KEY_REUSED',
          'the secret that was made with this Idempotency-Key has been replaced, and no longer signs'
        )
      const { secret: made, ...stored } = secrets.rotate(webhook, { ...rotation, nowMs: clock.now() })
      secret = made
      return { ...webhook, ...stored }
    })
    return secret
  }

  /** Stores a changed webhook; an unchanged one is not written. Concurrent changes are applied sequentially. */
  #change(
    tenant: string,
    id: number,
    event: 'enabled' | 'rotated',
    changed: (before: WebhookState) => Webhook
  ): Promise<StoredWebhook> {
    return this.#changes.run(tenant, () => this.#changeNow(tenant, id, event, changed))
  }

  async #changeNow(
    tenant: string,
    id: number,
    event: 'enabled' | 'rotated',
    changed: (before: WebhookState) => Webhook
  ): Promise<StoredWebhook> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const stored = await this.find(tenant, id)
      const webhook = changed(await this.#withProgress(stored))
      if (webhook === stored.value) return stored
      const updatedAtMs = this.#deps.clock.now()
      const outcome = await this.#documents.update(stored, { ...webhook, updatedAtMs })
      if (!outcome.ok) continue
      this.#announce(webhook, { event })
      return outcome.stored
    }
    throw busy(id)
  }

  #announce(webhook: Webhook, change: WebhookChange): void {
    this.#deps.deliveries.changed(webhook.tenant)
    this.#deps.changes.publish(webhook, change)
  }

  async #withProgress(stored: StoredWebhook): Promise<WebhookState> {
    const [progress = null] = await this.#documents.hot([stored])
    return { webhook: stored.value, progress }
  }

  #shown(webhook: Webhook): ShownWebhook {
    const [current] = webhook.secrets
    if (current === undefined) throw new Error(`webhook ${webhook.id} is stored without a secret`)
    return { webhook, secret: this.#deps.secrets.open(webhook, current.sealed) }
  }
}

/** Returns the webhooks of a tenant as they are stored, in the order of their ids. */
export async function webhooksOf(store: DocumentStore, tenant: string): Promise<readonly StoredWebhook[]> {
  const { documents } = await new Documents(store, WEBHOOK).list(tenantShard(tenant), {
    prefix: [tenant],
    limit: WEBHOOKS_PER_TENANT_MAX
  })
  return documents
}

/** Returns the consecutive failed deliveries of the present activation. */
export function failuresOf({ webhook, progress }: WebhookState): number {
  return progress?.activation === webhook.activation ? progress.consecutiveFailures : webhook.failuresAtStart
}

/** Returns a slot that no webhook of a tenant has; null if all slots are taken. */
function freeSlot(webhooks: readonly StoredWebhook[]): number | null {
  const taken = new Set(webhooks.map(({ value }) => value.slot))
  const slots = Array.from({ length: WEBHOOKS_PER_TENANT_MAX }, (_, slot) => slot)
  return slots.find((slot) => !taken.has(slot)) ?? null
}

function busy(id: number): ServiceError {
  return new ServiceError(
    'STORAGE_UNAVAILABLE',
    `webhook ${id} was changed concurrently ${ATTEMPTS_MAX} times; retry`
  )
}
