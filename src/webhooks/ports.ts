import type { Stored } from '../../storage/documents.ts'
import type { TextSeal } from '../access/text-seal.ts'
import type { Rotation } from './rotation.ts'
import type { DeliveryAttempt, Webhook } from './webhook.ts'

/** Checks the addresses to which a webhook may send. */
export interface UrlGuard {
  /** Resolves if the URL's host resolves only to allowed addresses now; rejects with URL_REFUSED. */
  check(url: string): Promise<unknown>
}

type WebhookIdentity = Pick<Webhook, 'tenant' | 'id'>

/** A new secret: in clear for its owner, who sees it once, and encrypted as fields of the webhook. */
export interface MadeSecret extends Pick<Webhook, 'secrets' | 'secretHint'> {
  readonly secret: string
}

/** Creates webhook secrets, and encrypts them with the configured key. */
export interface WebhookSecrets extends TextSeal {
  make(webhook: WebhookIdentity): MadeSecret
  /** Creates a further secret. Throws SECRET_LIMIT_REACHED. */
  rotate(webhook: WebhookIdentity & Pick<Webhook, 'secrets'>, rotation: Rotation): MadeSecret
  open(webhook: WebhookIdentity, sealed: Uint8Array): string
}

/** The attempts of a webhook, newest first. */
export interface DeliveryLog {
  list(
    webhook: Stored<Webhook>,
    page: { readonly limit: number; readonly after: string | null; readonly nowMs: number }
  ): Promise<{ readonly attempts: readonly DeliveryAttempt[]; readonly next: string | null }>
  add(tenant: string, id: number, attempts: readonly DeliveryAttempt[]): Promise<void>
}

/** The processes that deliver, as the API sees them. */
export interface WebhookDeliveries {
  /**
   * Announces that a webhook of a tenant was created, changed or deleted. This is a hint; the store is authoritative.
   */
  changed(tenant: string): void
  /** Returns the number of events queued for a webhook; null if another process delivers. */
  buffered(tenant: string, id: number): number | null
}
