import { z } from 'zod'
import { defineDocument, jsonBytes } from '../../storage/document-definition.ts'
import { tenantShard } from '../access/tenant-shard.ts'

/** Limits of webhooks (src/docs/webhooks.md). */
export const WEBHOOKS_PER_TENANT_MAX = 5
export const WEBHOOK_CHANNELS_MAX = 50
/** An encrypted secret, and the time from which it no longer signs. */
const storedSecret = z.object({
  /** AES-256-GCM: nonce, ciphertext, tag. */
  sealed: jsonBytes,
  /** Unix milliseconds; null for the current secret. */
  expiresAtMs: z.number().nullable(),
  /** The request that created it; absent for the first secret, and for those of earlier versions. */
  operation: z.string().optional()
})

/** Reasons why deliveries of a webhook stopped. */
export const DISABLED_REASONS = ['consecutive_failures', 'gone'] as const

/** A range of cursors, `from` exclusive and `to` inclusive, as a batch reports it. */
const cursorRange = z.object({ from: z.number(), to: z.number() })
export type CursorRange = z.infer<typeof cursorRange>

/** One POST of a batch, as the list of deliveries shows it. */
export const deliveryAttempt = z.object({
  batchId: z.string(),
  /** From 1 to 3; 0 for a test event. */
  attempt: z.number(),
  /** HTTP status of the response; null if the POST was not answered. */
  statusCode: z.number().nullable(),
  error: z.string().nullable(),
  events: z.number(),
  dropped: z.number(),
  startedAtMs: z.number(),
  durationMs: z.number(),
  /** Null if no further attempt follows. */
  nextRetryAtMs: z.number().nullable()
})
export type DeliveryAttempt = z.infer<typeof deliveryAttempt>

/** An attempt as it is stored: a line of text (attempt-line.ts). Earlier versions stored objects. */
export const storedAttempt = z.union([z.string(), deliveryAttempt])
export type StoredAttempt = z.infer<typeof storedAttempt>

/** A batch in flight. Stored before its first attempt, so that a retry has the same id and bytes. */
const batchIntent = z.object({
  batchId: z.string(),
  batchTsMs: z.number(),
  /** The batch has the events of the channels with `after` < cursor ≤ `last`. */
  after: z.number(),
  last: z.number(),
  events: z.number(),
  /** The number of dropped events that the batch reports. */
  dropped: z.number(),
  /** The range of unknown events that the batch reports; null if all events are known. */
  missed: cursorRange.nullable(),
  /** Checksum of the events, to check that the log still gives identical bytes. -1 for a batch of an earlier version. */
  checksum: z.number().default(-1),
  /** Attempts that have ended: 0, 1 or 2. */
  attempts: z.number(),
  /** Unix milliseconds before which the next attempt is not made. */
  notBeforeMs: z.number()
})
export type BatchIntent = z.infer<typeof batchIntent>

/**
 * Values that change with each batch. They are stored beside the document, under the fencing token of the shard's
 * lease.
 */
const progress = z.object({
  /** The activation of this progress. Progress of another activation is void. */
  activation: z.number(),
  /** Every event up to this cursor was delivered, or counted as dropped. */
  position: z.number(),
  /** Events beyond the position that were dropped and counted, while earlier ones are still to be delivered. */
  hole: cursorRange.nullable(),
  /** Dropped events that no acknowledged batch has reported. */
  dropped: z.number(),
  droppedTotal: z.number(),
  /** Range of events that cannot be counted, such as those beyond the replay horizon; the next batch reports it. */
  missed: cursorRange.nullable(),
  /** Consecutive failed deliveries. */
  consecutiveFailures: z.number(),
  lastSuccessAtMs: z.number().nullable(),
  lastFailureAtMs: z.number().nullable(),
  /** HTTP status of the last response; null if the last POST was not answered. */
  lastStatus: z.number().nullable(),
  lastError: z.string().nullable(),
  batch: batchIntent.nullable(),
  /** Events that waited for delivery at this write, for processes that do not deliver; absent in earlier versions. */
  buffered: z.number().optional(),
  /**
   * The newest attempts, oldest first, as lines in one text, because they are rewritten with every batch. Earlier
   * attempts are in pages (attempts.ts). Earlier versions stored a list.
   */
  attempts: z.union([z.string(), z.array(storedAttempt)])
})
export type WebhookProgress = z.infer<typeof progress>

/** A webhook of a tenant. Its tenant, id, slot and times of creation never change. */
export const WEBHOOK = defineDocument({
  kind: 'webhook',
  schema: z.object({
    tenant: z.string(),
    /** Random, from 1 to 2^48 - 1. */
    id: z.number(),
    /**
     * From 0 to WEBHOOKS_PER_TENANT_MAX - 1. Unique in the tenant, so that concurrent requests cannot exceed the
     * limit.
     */
    slot: z.number(),
    url: z.string(),
    channels: z.array(z.string()),
    /** The current secret first, then those of earlier rotations that still sign. */
    secrets: z.array(storedSecret),
    /** The last four characters of the current secret. */
    secretHint: z.string(),
    active: z.boolean(),
    disabledAtMs: z.number().nullable(),
    disabledReason: z.enum(DISABLED_REASONS).nullable(),
    createdAtMs: z.number(),
    updatedAtMs: z.number(),
    /**
     * Incremented when deliveries start from a new position: 1 at creation, +1 at each enabling that changes the
     * position.
     */
    activation: z.number(),
    /** Deliveries of this activation begin after this cursor; null for the head at the start of the deliveries. */
    since: z.number().nullable(),
    /** Consecutive failed deliveries at the start of this activation: above 0 only if the webhook was active before. */
    failuresAtStart: z.number().default(0),
    /** The request that enabled it last; absent before the first. */
    enabledBy: z.string().optional()
  }),
  partition: ({ tenant }) => tenantShard(tenant),
  key: ({ tenant, id }) => [tenant, id],
  unique: { slot: ({ tenant, slot }) => [tenant, slot] },
  hot: progress
})
export type Webhook = z.infer<typeof WEBHOOK.schema>

/** A POST to a receiver. */
export interface WebhookPost {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Given to the sender, which frees it when it has been sent. */
  readonly body: Uint8Array
  /** Maximum milliseconds that it is queued; then it fails as `too_many_posts`. Unlimited by default. */
  readonly waitMs?: number | undefined
}

/** The outcome of a POST. The body of the answer is read up to a limit and discarded. */
export type PostOutcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Milliseconds of `Retry-After`; null if it is absent or malformed. */
      readonly retryAfterMs: number | null
      readonly durationMs: number
    }
  | {
      readonly kind: 'failed'
      /** A short error name for the tenant, such as `timeout`, `connection_refused`, `url_not_allowed`. */
      readonly error: string
      readonly durationMs: number
    }

/** Sends POSTs to receivers, within the limits of concurrency of the process and of each tenant. Never rejects. */
export interface WebhookSender {
  post(tenant: string, request: WebhookPost, signal: AbortSignal): Promise<PostOutcome>
}

/** Seals and opens webhook secrets with the configured key, and signs with them. */
export interface WebhookSigner {
  /**
   * Returns the headers of a delivery with both signature schemes, by each secret that currently signs. `attempt`
   * counts from 1, and has its own header.
   *
   * @throws ServiceError SERVICE_FAILED if a secret was sealed with another key
   */
  headers(
    webhook: Pick<Webhook, 'tenant' | 'id' | 'secrets'>,
    batch: {
      readonly id: string
      readonly body: Uint8Array
      readonly nowMs: number
      readonly attempt?: number
    }
  ): Record<string, string>
}
