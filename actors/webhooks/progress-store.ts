import type { Clock } from '../../src/ports.ts'
import type { CursorRange, Webhook, WebhookProgress } from '../../src/webhooks/webhook.ts'
import { WEBHOOK } from '../../src/webhooks/webhook.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type FencedHot, type Stored } from '../../storage/documents.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import { retryUntilAvailable, type RetryPolicy } from '../storage/retry.ts'

/** Reads and writes what deliveries of one shard change, under its fencing token. Waits while the store is unavailable. */
export class ProgressStore {
  readonly #documents: Documents<Webhook, never, 'slot', WebhookProgress>
  readonly #claim: ShardClaim
  readonly #retry: RetryPolicy

  constructor(store: DocumentStore, claim: ShardClaim, clock: Clock) {
    this.#documents = new Documents(store, WEBHOOK)
    this.#claim = claim
    this.#retry = retryUntilAvailable(clock)
  }

  /**
   * Announces the token, and takes over the progress of the previous process. That process may still run, cut off from its
   * leases. Any of its writes that was confirmed to it is read here, whenever it was made.
   */
  async adopt(webhook: Stored<Webhook>, end: AbortSignal): Promise<WebhookProgress | null> {
    const { token } = this.#claim
    return this.#own(await this.#retry(() => this.#documents.fenceHot(webhook, token), end), end)
  }

  /**
   * Writes the progress, and confirms it: the store shows the value of the greatest token.
   */
  async write(webhook: Stored<Webhook>, progress: WebhookProgress, end: AbortSignal): Promise<void> {
    const { token } = this.#claim
    await this.#retry(() => this.#documents.putHot(webhook, token, progress), end)
    await this.confirm(webhook, end)
  }

  /** Rejects if another process has adopted the webhook; reads only while another process may have the shard. */
  async confirm(webhook: Stored<Webhook>, end: AbortSignal): Promise<void> {
    if (!this.#claim.held) await this.#read(webhook, end)
  }

  /**
   * Changes a webhook of the same activation. Resolves with the stored document, or with its owner's if the owner has
   * changed or deleted it meanwhile. A process that was outranked changes nothing.
   */
  async update(
    webhook: Stored<Webhook>,
    change: Partial<Webhook>,
    end: AbortSignal
  ): Promise<Stored<Webhook>> {
    const { partition, key } = WEBHOOK
    await this.confirm(webhook, end)
    let before = webhook
    for (;;) {
      const value = { ...before.value, ...change }
      const outcome = await this.#retry(() => this.#documents.update(before, value), end)
      if (outcome.ok) return outcome.stored
      const current = await this.#retry(() => this.#documents.get(partition(value), key(value)), end)
      const isOwn = current?.value.active === true && current.value.activation === webhook.value.activation
      if (!isOwn) return current ?? { ...before, value }
      before = current
    }
  }

  /** Rejects when `end` aborts, also because another process has the shard. */
  async #read(webhook: Stored<Webhook>, end: AbortSignal): Promise<WebhookProgress | null> {
    const [found] = await this.#retry(() => this.#documents.fencedHot([webhook]), end)
    return this.#own(found!, end)
  }

  #own({ token, hot }: FencedHot<WebhookProgress>, end: AbortSignal): WebhookProgress | null {
    if (token > this.#claim.token) this.#claim.outranked(token)
    end.throwIfAborted()
    return hot
  }
}

/**
 * Returns the progress with which a process adopts a webhook. Another activation begins where its owner said, or at the
 * head. Earlier undelivered events are then reported as a range without a count.
 */
export function progressAt(
  { activation, since, failuresAtStart }: Webhook,
  stored: WebhookProgress | null,
  head: number
): WebhookProgress {
  if (stored?.activation === activation) return stored
  const position = since ?? Math.max(head, -1)
  // A missed range that no accepted batch has reported is reported by a batch of this activation.
  const unreported = since === null ? (stored?.missed ?? null) : null
  const left = stored === null || since !== null || stored.position >= position ? null : stored.position
  return {
    activation,
    position,
    hole: null,
    dropped: since === null ? (stored?.dropped ?? 0) : 0,
    droppedTotal: stored?.droppedTotal ?? 0,
    missed: left === null ? unreported : unionOf(unreported, { from: left, to: position }),
    consecutiveFailures: failuresAtStart,
    lastSuccessAtMs: stored?.lastSuccessAtMs ?? null,
    lastFailureAtMs: stored?.lastFailureAtMs ?? null,
    lastStatus: stored?.lastStatus ?? null,
    lastError: stored?.lastError ?? null,
    batch: null,
    attempts: stored?.attempts ?? ''
  }
}

/** Returns the range from the beginning of the first to the end of the last of two ranges. */
export function unionOf(a: CursorRange | null, b: CursorRange): CursorRange {
  return a === null ? b : { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) }
}
