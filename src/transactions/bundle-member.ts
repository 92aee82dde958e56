import { z } from 'zod'
import { defineDocument, keptFor } from '../../storage/document-definition.ts'
import { submissionPartition } from './submission.ts'

/** The bundle of a tenant that was posted last with a transaction as a member, by the signature that its status is asked for. */
const BUNDLE_MEMBER = defineDocument({
  kind: 'bundle-member',
  schema: z.object({
    tenant: z.string(),
    /** Base58 of its first signature. */
    signature: z.string(),
    bundleId: z.string(),
    /** Whether it has a recent blockhash; else a durable nonce, by which it can land after the bundle has failed. */
    isRecent: z.boolean()
  }),
  partition: ({ tenant, signature }) => submissionPartition(tenant, signature),
  key: ({ tenant, signature }) => [tenant, signature]
})
export type BundleMember = z.infer<typeof BUNDLE_MEMBER.schema>

/** Returns the kind of documents that finds the bundle of a signature, for a time; null for ever. */
export const bundleMembers = (keptMs: number | null): typeof BUNDLE_MEMBER => keptFor(BUNDLE_MEMBER, keptMs)
