import { z } from 'zod'
import { defineDocument, withTtl } from '../../storage/document-definition.ts'
import { submissionPartition } from './submission.ts'

/** Maps a member's signature to the tenant's newest bundle with that member, for status requests by signature. */
const BUNDLE_MEMBER = defineDocument({
  kind: 'bundle-member',
  schema: z.object({
    tenant: z.string(),
    /** Base58 of the member's first signature. */
    signature: z.string(),
    bundleId: z.string(),
    /**
     * Whether the member has a recent blockhash. If not, it has a durable nonce and can land after the bundle has
     * failed.
     */
    isRecent: z.boolean()
  }),
  partition: ({ tenant, signature }) => submissionPartition(tenant, signature),
  key: ({ tenant, signature }) => [tenant, signature]
})
export type BundleMember = z.infer<typeof BUNDLE_MEMBER.schema>

/** Returns the document definition that maps signatures to bundles, with a TTL; null for no expiry. */
export const bundleMembers = (retentionMs: number | null): typeof BUNDLE_MEMBER =>
  withTtl(BUNDLE_MEMBER, retentionMs)
