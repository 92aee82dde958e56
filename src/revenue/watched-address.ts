import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import { tenantShard } from '../access/tenant-shard.ts'
import { watchHistory } from './watch-history.ts'

/** Addresses that a tenant may watch (src/docs/revenue.md). */
export const WATCHED_PER_TENANT_MAX = 200
/** Seconds within which the ledger of a new address begins (src/docs/revenue.md). */
export const CAPTURE_WITHIN_S = 30
/** Where a ledger begins. */
const captureFrom = z.object({
  /** The first slot whose blocks are recorded. */
  slot: z.number(),
  /** Block time of the newest block before it, unix seconds. */
  ts: z.number()
})

/** An address whose balance changes a tenant has recorded. Its tenant, address, slot and time of creation never change. */
export const WATCHED_ADDRESS = defineDocument({
  kind: 'watched-address',
  schema: z.object({
    tenant: z.string(),
    /** Base58. */
    address: z.string(),
    /** From 0 to WATCHED_PER_TENANT_MAX - 1, unique in the tenant, so that concurrent requests cannot exceed the limit. */
    slot: z.number(),
    label: z.string(),
    role: z.string(),
    createdAtMs: z.number(),
    /** Null until the follower records its blocks. Earlier entries are another tenant's, and are not shown. */
    captureFrom: captureFrom.nullable(),
    /** Absent if no backfill was requested, and the address was never unwatched. */
    history: watchHistory.optional()
  }),
  partition: ({ tenant }) => tenantShard(tenant),
  key: ({ tenant, address }) => [tenant, address],
  unique: { slot: ({ tenant, slot }) => [tenant, slot] }
})
export type WatchedAddress = z.infer<typeof WATCHED_ADDRESS.schema>
