import { TRACKED_PER_PROCESS_MAX, TRACKED_PER_TENANT_MAX } from './submission.ts'

/**
 * Number of tracked transactions above which a tenant gets no place beyond its share: four fifths of the process. So
 * a tenant that arrives late finds room, and few tenants may each use all of their 2,000.
 */
const CROWDED_AT = (TRACKED_PER_PROCESS_MAX * 4) / 5

/** The places of a process, as they count for one tenant. */
export interface Places {
  /** Places in use in the process, excluding a place that is released for this tenant. */
  readonly process: number
  /** Places of the tenant that it cannot release. */
  readonly tenant: number
  /** Places that the tenant may have while the process is crowded. */
  readonly share: number
}

/**
 * Returns the share of a tenant in a process with a number of tenants, this one included. Divides by one tenant more, so
 * that there is room for a new one.
 */
export const shareOf = (tenants: number): number => Math.floor(TRACKED_PER_PROCESS_MAX / (tenants + 1))

/** Returns the reason why a tenant gets no place; null if it gets one. */
export function placeRefusal({ process, tenant, share }: Places): string | null {
  if (tenant >= TRACKED_PER_TENANT_MAX)
    return `this tenant has ${TRACKED_PER_TENANT_MAX} tracked transactions, the most a tenant may have`
  if (process >= TRACKED_PER_PROCESS_MAX)
    return `this process tracks ${TRACKED_PER_PROCESS_MAX} transactions, the most it can`
  if (process >= CROWDED_AT && tenant >= share)
    return `this process tracks ${process} transactions, and this tenant has its share of ${share}; it may have more once there are fewer than ${CROWDED_AT}`
  return null
}

/** The transactions of one tenant. */
export interface TenantPlaces<Item> {
  readonly tenant: string
  /** Oldest first. */
  readonly items: readonly Item[]
}

/**
 * Returns the transaction whose place is released for a tenant. It is the oldest idle one of the tenant with the most
 * places, among tenants with at least as many as this one. If this tenant is at its own limit, the transaction is one of its
 * own. Null if all of them are busy.
 */
export function releasedFor<Item>(
  tenant: string,
  all: readonly TenantPlaces<Item>[],
  isIdle: (item: Item) => boolean
): Item | null {
  const own = all.find((each) => each.tenant === tenant)?.items ?? []
  const donors =
    own.length >= TRACKED_PER_TENANT_MAX
      ? [own]
      : all
          .map(({ items }) => items)
          .filter((items) => items.length >= own.length)
          .toSorted((a, b) => b.length - a.length)
  for (const items of donors) {
    const idle = items.find(isIdle)
    if (idle !== undefined) return idle
  }
  return null
}
