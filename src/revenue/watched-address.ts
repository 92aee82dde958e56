import { createHash } from 'node:crypto'
import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'

/** Addresses that a tenant may watch (spec, Limits). */
export const WATCHED_PER_TENANT_MAX = 200
/** Seconds within which the ledger of a new address begins (spec, Limits). */
export const CAPTURE_WITHIN_S = 30
/**
 * Groups of tenants: partitions of watched addresses. The follower lists all of them, so they are few; changes of one
 * group are made one after another on a cluster, so it is not one.
 */
const SHARDS = 32

export const WATCHED_SHARDS: readonly string[] = Array.from(
  { length: SHARDS },
  (_, index) => `shard-${index}`
)

/** Returns the group of a tenant. */
export function watchedShard(tenant: string): string {
  const hash = createHash('sha256').update(tenant).digest().readUInt32BE(0)
  return WATCHED_SHARDS[hash % SHARDS]!
}

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
    captureFrom: captureFrom.nullable()
  }),
  partition: ({ tenant }) => watchedShard(tenant),
  key: ({ tenant, address }) => [tenant, address],
  unique: { slot: ({ tenant, slot }) => [tenant, slot] }
})
export type WatchedAddress = z.infer<typeof WATCHED_ADDRESS.schema>
