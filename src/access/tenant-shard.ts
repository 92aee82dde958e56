import { createHash } from 'node:crypto'

/**
 * Groups of tenants: partitions of their webhooks and watched addresses. With 32, listing all of them takes 32 reads, and
 * eight delivering processes get four each. A cluster serializes the changes of one group; few changes share a group.
 */
const SHARDS = 32

/** The names of all shards. */
export const SHARD_NAMES: readonly string[] = Array.from(
  { length: SHARDS },
  (_, index) => `shard-${String(index).padStart(2, '0')}`
)

/** Returns the shard of a tenant. */
export function tenantShard(tenant: string): string {
  const hash = createHash('sha256').update(tenant).digest().readUInt32BE(0)
  return SHARD_NAMES[hash % SHARDS]!
}
