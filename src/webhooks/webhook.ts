import { createHash } from 'node:crypto'
import { z } from 'zod'
import { defineDocument, jsonBytes } from '../../storage/document-definition.ts'

/** Limits of webhooks (spec, Limits). */
export const WEBHOOKS_PER_TENANT_MAX = 5
export const WEBHOOK_CHANNELS_MAX = 50
/**
 * Groups of tenants. A delivery process owns whole shards, each by one lease, so that a process that dies hands over its
 * tenants by a few leases. Chosen: eight processes get four shards each, and listing all shards is 32 reads.
 */
const SHARDS = 32

/** The names of all shards: partitions of webhooks, and of leases. */
export const SHARD_NAMES: readonly string[] = Array.from(
  { length: SHARDS },
  (_, index) => `shard-${String(index).padStart(2, '0')}`
)

/** A secret at rest: encrypted with the configured key, and the time from which it does not sign any more. */
const storedSecret = z.object({
  /** AES-256-GCM: nonce, ciphertext, tag. */
  sealed: jsonBytes,
  /** Unix milliseconds; null for the current secret. */
  expiresAtMs: z.number().nullable()
})

/** Why deliveries of a webhook stopped. */
export const DISABLED_REASONS = ['consecutive_failures', 'gone'] as const

/** A range of cursors, `from` excluded and `to` included, as a batch tells it. */
const cursorRange = z.object({ from: z.number(), to: z.number() })
export type CursorRange = z.infer<typeof cursorRange>

/** One POST of a batch, as the list of deliveries shows it. */
export const deliveryAttempt = z.object({
  batchId: z.string(),
  /** From 1 to 3; 0 for a test event. */
  attempt: z.number(),
  /** HTTP status of the answer; null where there was none. */
  statusCode: z.number().nullable(),
  error: z.string().nullable(),
  events: z.number(),
  dropped: z.number(),
  startedAtMs: z.number(),
  durationMs: z.number(),
  /** Null where no other attempt follows. */
  nextRetryAtMs: z.number().nullable()
})
export type DeliveryAttempt = z.infer<typeof deliveryAttempt>

/** An attempt as it is stored: a line of text (attempt-line.ts). Earlier versions stored objects. */
export const storedAttempt = z.union([z.string(), deliveryAttempt])
export type StoredAttempt = z.infer<typeof storedAttempt>

/** A batch that is being sent. Stored before its first attempt, so that a repeat has the same id and bytes. */
const batchIntent = z.object({
  batchId: z.string(),
  batchTsMs: z.number(),
  /** The batch has the events of the channels with `after` < cursor ≤ `last`. */
  after: z.number(),
  last: z.number(),
  events: z.number(),
  /** The count of dropped events that the batch tells. */
  dropped: z.number(),
  /** The range of unknown events that the batch tells; null for none. */
  missed: cursorRange.nullable(),
  /** Checksum of the events: tells whether the log still gives the same bytes. -1 for a batch of an earlier version. */
  checksum: z.number().default(-1),
  /** Attempts that have ended: 0, 1 or 2. */
  attempts: z.number(),
  /** Unix milliseconds before which the next attempt is not made. */
  notBeforeMs: z.number()
})
export type BatchIntent = z.infer<typeof batchIntent>

/** Values that deliveries change with each batch, beside the document, under the fencing token of the shard's lease. */
const progress = z.object({
  /** The activation that this is the progress of; that of another activation is void. */
  activation: z.number(),
  /** Every event up to this cursor was delivered, or counted as dropped. */
  position: z.number(),
  /** Events beyond the position that were dropped and counted, while earlier ones are still to be delivered. */
  hole: cursorRange.nullable(),
  /** Dropped events that no acknowledged batch has told. */
  dropped: z.number(),
  droppedTotal: z.number(),
  /** Events that nobody can count any more, such as those beyond the replay horizon; told by the next batch. */
  missed: cursorRange.nullable(),
  /** Deliveries that failed one after another. */
  consecutiveFailures: z.number(),
  lastSuccessAtMs: z.number().nullable(),
  lastFailureAtMs: z.number().nullable(),
  /** HTTP status of the last answer; null where there was none. */
  lastStatus: z.number().nullable(),
  lastError: z.string().nullable(),
  batch: batchIntent.nullable(),
  /**
   * The newest attempts, oldest first, as their lines in one text, since they are written again with every batch; earlier ones
   * are in pages (attempts.ts). Earlier versions stored a list.
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
    /** From 0 to WEBHOOKS_PER_TENANT_MAX - 1: unique in the tenant, so that two concurrent requests keep the limit. */
    slot: z.number(),
    url: z.string(),
    channels: z.array(z.string()),
    /** The current secret first, then the previous one while it still signs. */
    secrets: z.array(storedSecret),
    /** The last four characters of the current secret. */
    secretHint: z.string(),
    active: z.boolean(),
    disabledAtMs: z.number().nullable(),
    disabledReason: z.enum(DISABLED_REASONS).nullable(),
    createdAtMs: z.number(),
    updatedAtMs: z.number(),
    /** Grows when deliveries begin anew: at creation (1) and at each enabling that changes where they begin. */
    activation: z.number(),
    /** Deliveries of this activation begin after this cursor; null for the head when the delivery process takes it up. */
    since: z.number().nullable(),
    /** Failed deliveries in a row with which this activation begins: above 0 only if the webhook was active before it. */
    failuresAtStart: z.number().default(0)
  }),
  partition: ({ tenant }) => webhookShard(tenant),
  key: ({ tenant, id }) => [tenant, id],
  unique: { slot: ({ tenant, slot }) => [tenant, slot] },
  hot: progress
})
export type Webhook = z.infer<typeof WEBHOOK.schema>

/** Returns the shard of a tenant, which is the partition of its webhooks and the name of a lease. */
export function webhookShard(tenant: string): string {
  const hash = createHash('sha256').update(tenant).digest().readUInt32BE(0)
  return SHARD_NAMES[hash % SHARDS]!
}

/** A POST to a receiver. */
export interface WebhookPost {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Given to the sender, which frees it when it has been sent. */
  readonly body: Uint8Array
}

/** The outcome of a POST. The body of the answer is read to a limit and thrown away. */
export type PostOutcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Milliseconds that `Retry-After` asks for; null where it is absent or not understood. */
      readonly retryAfterMs: number | null
      readonly durationMs: number
    }
  | {
      readonly kind: 'failed'
      /** A word for the tenant, such as `timeout`, `connection_refused`, `url_not_allowed`. */
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
   * Returns the headers of a delivery with both signature schemes, by each secret that signs at a time. `attempt` counts
   * from 1, and has a header of its own.
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
