import { hash } from 'node:crypto'
import { z } from 'zod'
import { defineDocument, jsonBytes } from '../../storage/document-definition.ts'

/** Maximum tracked signatures of a process (src/docs/transactions.md). */
export const TRACKED_PER_PROCESS_MAX = 10_000
/** Maximum tracked signatures of one tenant: a fifth of a process, so that one tenant does not fill it. */
export const TRACKED_PER_TENANT_MAX = 2_000
/** Pause between sends of a tracked transaction, in milliseconds (src/docs/transactions.md). */
export const REBROADCAST_MS = 2_000
/**
 * Milliseconds for which a transaction with a durable nonce is resent after its first send (src/docs/transactions.md), and after
 * each request that restarts its sends. It is tracked until its nonce advances, because it can land until then.
 */
export const NONCE_RESENDS_MS = 60_000

/**
 * Milliseconds for which a submission without a known end is tracked: since its reception, and at least in a process
 * that adopts it. Mostly such a submission has a durable nonce that does not advance. A day, like an
 * `Idempotency-Key`, and ten minutes.
 */
export const FOLLOWED_MS = { sinceReception: 86_400_000, here: 600_000 } as const

/** Groups of tenants, each owned by one process by a lease. As many as the webhook shards. */
const SHARDS = 32
/**
 * Partitions of a shard. A cluster makes changes of one partition sequentially, a few hundred a second. Four
 * partitions let a tenant submit as many as its process can verify.
 */
const BUCKETS = 4

/** The names of all shards, which are names of leases. */
export const TRANSACTION_SHARDS: readonly string[] = Array.from(
  { length: SHARDS },
  (_, index) => `transactions-${String(index).padStart(2, '0')}`
)

/** Routes of a transaction: to leaders and the node, or only to the block engine. */
export const ROUTES = ['node', 'jito'] as const
export type Route = (typeof ROUTES)[number]

/** States of the transaction machine (`machines/transaction.machine.ts`); the last three are final. */
export const TRANSACTION_STATES = [
  'sent',
  'processed',
  'confirmed',
  'finalized',
  'failed',
  'expired'
] as const
export type TransactionState = (typeof TRANSACTION_STATES)[number]

/** Progress of a submission. Changes with each send and sighting; when tracking ends it is stored in the document. */
const progress = z.object({
  /** Fencing token of the process that wrote this. */
  token: z.number(),
  state: z.enum(TRANSACTION_STATES),
  /** Slot of the block that contains it; null before. */
  slot: z.number().nullable(),
  /** Commitment of that block; stored for a failed transaction, whose state does not imply it. */
  commitment: z.enum(['processed', 'confirmed', 'finalized']).nullable(),
  /** Position in the block; null before it has landed, and if its block was not read. */
  index: z.number().nullable(),
  /** The chain's error in JSON-RPC form; null for a success. */
  err: z.unknown(),
  confirmations: z.number().nullable(),
  /** Sends after the first one. A send that reached no node and no leader does not count. */
  rebroadcasts: z.number(),
  /** Leaders that it was sent to directly, over all sends. */
  leadersSent: z.number(),
  /** Unix milliseconds; null before the first send. */
  firstSentAtMs: z.number().nullable(),
  lastSentAtMs: z.number().nullable(),
  /** The newest block that this process knew at the first send; null before the first block. */
  firstSentSlot: z.number().nullable(),
  /** Unix milliseconds at which a block with it was first seen; null before. */
  landedAtMs: z.number().nullable(),
  /**
   * The last block height at which it can land; null while unknown, and with a durable nonce. An upper bound if the
   * height of its blockhash is unknown.
   */
  lastValidBlockHeight: z.number().nullable(),
  updatedAtMs: z.number(),
  /** Fields of the transaction machine's context. Absent in progress of earlier versions. */
  evidence: z.enum(['claim', 'node', 'nodes', 'block']).nullable().optional(),
  claimedAtMs: z.number().nullable().optional(),
  claimedSlot: z.number().nullable().optional(),
  /** The newest slot at which a node proved that it had not landed. Absent: no node did. */
  absentSlot: z.number().optional()
})
export type SubmissionProgress = z.infer<typeof progress>

/**
 * A transaction that a tenant submitted. A repeated request may change `routes`, `resumedAtMs` and `revertProtection`;
 * its end clears `wire`. All other fields stay as they were at its reception.
 */
export const SUBMISSION = defineDocument({
  kind: 'submission',
  schema: z.object({
    tenant: z.string(),
    /** Base58 of the first signature. */
    signature: z.string(),
    /** The signed transaction; null once it is no longer sent. */
    wire: jsonBytes.nullable(),
    /** Route of the first request. */
    route: z.enum(ROUTES),
    /** All routes in use, in the order of the requests that added them. Absent: `route` alone. */
    routes: z.array(z.enum(ROUTES)).optional(),
    /** Unix milliseconds at which a repeated request last restarted its sends. Absent: never. */
    resumedAtMs: z.number().optional(),
    /** Applies to the sends through the block engine. */
    revertProtection: z.boolean(),
    /** Unix milliseconds. */
    receivedAtMs: z.number(),
    /** The newest slot and confirmed height that its process knew at the reception. Absent: unknown. */
    receivedSlot: z.number().optional(),
    receivedHeight: z.number().optional(),
    /** The last block height at which it can land, from the block of its blockhash. Absent: unknown at the reception. */
    lastValidBlockHeight: z.number().optional(),
    /** Recent blockhash, or the value of the nonce, in base58. */
    blockhash: z.string(),
    /** Account of the durable nonce in base58; null for a recent blockhash. */
    nonceAccount: z.string().nullable(),
    /** Id of the bundle in which it was submitted; null if it was submitted by itself. */
    bundleId: z.string().nullable(),
    /**
     * The last progress, once tracking has ended; null while it is tracked. Its state is a final one, or the last
     * known one if the end is unknown.
     */
    end: progress.nullable(),
    /** Unix milliseconds of the next check of a landing that only one node states. Absent: no check is due. */
    recheckAtMs: z.number().optional(),
    /** Number of such checks so far. Absent: 0. */
    rechecks: z.number().optional()
  }),
  partition: ({ tenant, signature }) => submissionPartition(tenant, signature),
  key: ({ tenant, signature }) => [tenant, signature],
  indexes: {
    tracked: ({ tenant, receivedAtMs, end }) => (end === null ? [tenant, receivedAtMs] : null),
    received: ({ tenant, receivedAtMs }) => [tenant, receivedAtMs],
    ended: ({ tenant, receivedAtMs, end }) => (end === null ? null : [tenant, end.state, receivedAtMs]),
    rechecks: ({ end, recheckAtMs }) => (end === null || recheckAtMs === undefined ? null : [recheckAtMs])
  },
  hot: progress
})
export type Submission = z.infer<typeof SUBMISSION.schema>
export type SubmissionIndex = keyof NonNullable<typeof SUBMISSION.indexes>

/** Returns the routes that a submission is sent by. */
export const routesOf = ({ route, routes }: Pick<Submission, 'route' | 'routes'>): readonly Route[] =>
  routes ?? [route]

/**
 * Returns the time until which a transaction with a durable nonce is resent, in Unix milliseconds; infinite with a
 * recent blockhash, and before the first send.
 */
export function resendsUntilMs(
  { nonceAccount, resumedAtMs }: Pick<Submission, 'nonceAccount' | 'resumedAtMs'>,
  firstSentAtMs: number | null
): number {
  if (nonceAccount === null || firstSentAtMs === null) return Infinity
  return Math.max(firstSentAtMs, resumedAtMs ?? firstSentAtMs) + NONCE_RESENDS_MS
}

/**
 * Cache of the shards of tenants, each needed half a dozen times for a submission. Cleared at 1,024 tenants, about
 * 100 KB.
 */
const shards = new Map<string, string>()
const SHARDS_CACHED_MAX = 1_024

/** Returns the shard of a tenant: the name of its lease. */
export function transactionShard(tenant: string): string {
  let shard = shards.get(tenant)
  if (shard === undefined) {
    shard = TRANSACTION_SHARDS[hash('sha256', tenant, 'buffer').readUInt32BE(0) % SHARDS]!
    if (shards.size >= SHARDS_CACHED_MAX) shards.clear()
    shards.set(tenant, shard)
  }
  return shard
}

/** Returns the partitions of a shard's submissions. */
export const partitionsOf = (shard: string): readonly string[] =>
  Array.from({ length: BUCKETS }, (_, bucket) => `${shard}/${bucket}`)

/** Returns the partition of a submission. */
export function submissionPartition(tenant: string, signature: string): string {
  // The end of a signature is as random as its beginning, and base58 letters spread over four buckets.
  const bucket = signature.charCodeAt(signature.length - 1) % BUCKETS
  return `${transactionShard(tenant)}/${bucket}`
}
