import { z } from 'zod'
import { defineDocument, jsonBigint, jsonBytes } from '../../storage/document-definition.ts'
import { BUNDLE_REASONS } from './bodies/bundle.ts'
import { submissionPartition } from './submission.ts'

/**
 * Bundles of one tenant tracked at a time. The engine accepts one a second and region by default, and a
 * bundle is tracked for at most about 90 s.
 */
export const TRACKED_BUNDLES_PER_TENANT_MAX = 200

/** States of the bundle machine (`machines/bundle.machine.ts`); the last two are final. */
export const BUNDLE_STATES = [
  'queued',
  'submitting',
  'unsure',
  'pending',
  'rejected',
  'processed',
  'confirmed',
  'finalized',
  'failed'
] as const
export type BundleState = (typeof BUNDLE_STATES)[number]

export type BundleReason = (typeof BUNDLE_REASONS)[number]

/** The progress of a bundle. It changes with each answer; when tracking ends it is stored in the document. */
const progress = z.object({
  /** Fencing token of the process that wrote this. */
  token: z.number(),
  state: z.enum(BUNDLE_STATES),
  /** Id by which the engine knows it, if that differs from ours. */
  engineId: z.string().nullable(),
  /** Slot of the block that contains it; null before. */
  slot: z.number().nullable(),
  /** Error of a member in JSON-RPC form, or `{code, message}` of the engine's refusal; null before a failure. */
  err: z.unknown(),
  /** Null if it has not failed, and if the reason is unknown. */
  reason: z.enum(BUNDLE_REASONS).nullable(),
  /** Unix milliseconds of the last submission; null before the first. */
  submittedAtMs: z.number().nullable(),
  /**
   * The last block height at which a member can land; null until known. An upper bound if the height of a blockhash
   * is unknown.
   */
  lastValidBlockHeight: z.number().nullable(),
  /** Whether it was seen in a block that was removed since. */
  wasLost: z.boolean(),
  updatedAtMs: z.number()
})
export type BundleProgress = z.infer<typeof progress>

/** A bundle that a tenant submitted. All fields but `wires` and `end` stay as they were at its reception. */
export const BUNDLE = defineDocument({
  kind: 'bundle',
  schema: z.object({
    tenant: z.string(),
    /** SHA-256 of its signatures in hexadecimal (`src/signing/bundle-id.ts`). */
    bundleId: z.string(),
    /** Base58 of the first signature of each member, in order. */
    signatures: z.array(z.string()),
    /** The signed members; null once it is no longer submitted. */
    wires: z.array(jsonBytes).nullable(),
    /** Distinct recent blockhashes of the members, in base58; empty if all use durable nonces. */
    blockhashes: z.array(z.string()),
    tipLamports: jsonBigint,
    /** Unix milliseconds. */
    receivedAtMs: z.number(),
    /** The last progress, once tracking has ended; null while it is tracked. */
    end: progress.nullable()
  }),
  partition: ({ tenant, bundleId }) => submissionPartition(tenant, bundleId),
  key: ({ tenant, bundleId }) => [tenant, bundleId],
  indexes: {
    tracked: ({ tenant, receivedAtMs, end }) => (end === null ? [tenant, receivedAtMs] : null)
  },
  hot: progress
})
export type Bundle = z.infer<typeof BUNDLE.schema>

/** Returns the progress of a bundle that was just stored. */
export function firstProgress({ receivedAtMs }: Pick<Bundle, 'receivedAtMs'>, token: number): BundleProgress {
  return {
    token,
    state: 'queued',
    engineId: null,
    slot: null,
    err: null,
    reason: null,
    submittedAtMs: null,
    lastValidBlockHeight: null,
    wasLost: false,
    updatedAtMs: receivedAtMs
  }
}
