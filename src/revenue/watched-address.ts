import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import { tenantShard } from '../access/tenant-shard.ts'
import { LEDGER_TTL_MS } from './ledger-document.ts'
import { ledgerStart, watchHistory } from './watch-history.ts'

/** Addresses that a tenant may watch (src/docs/revenue.md). */
export const WATCHED_PER_TENANT_MAX = 200
/** Seconds within which the ledger of a new address begins (src/docs/revenue.md). */
export const CAPTURE_WITHIN_S = 30
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
    /** Null until the follower records its blocks. Earlier live entries are another tenant's, and are not shown. */
    captureFrom: ledgerStart.nullable(),
    /** Absent if no backfill was requested, and the address was never unwatched. */
    history: watchHistory.optional()
  }),
  partition: ({ tenant }) => tenantShard(tenant),
  key: ({ tenant, address }) => [tenant, address],
  unique: { slot: ({ tenant, slot }) => [tenant, slot] }
})
export type WatchedAddress = z.infer<typeof WATCHED_ADDRESS.schema>

/** A watch that has ended. It is retained as long as its rows, so that a later watch of the address finds them again. */
export const ENDED_WATCH = defineDocument({
  kind: 'ended-watch',
  schema: z.object({
    tenant: z.string(),
    address: z.string(),
    history: watchHistory
  }),
  partition: ({ tenant }) => tenantShard(tenant),
  key: ({ tenant, address }) => [tenant, address],
  ttlMs: LEDGER_TTL_MS
})
export type EndedWatch = z.infer<typeof ENDED_WATCH.schema>
