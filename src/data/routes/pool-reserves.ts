import type { AccountServices } from '../../accounts/services.ts'
import { reservesOf, withReserves, type PoolReserves } from '../../accounts/pools/live-reserves.ts'
import type { MarketPool } from '../../archive/market-stores.ts'
import { isLaunchpad } from '../../market/curves.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import { ANSWER_MS } from '../../accounts/routes/account-services.ts'

/** TTL in milliseconds of an answer with cached reserves, as for mints. */
const REPEATED_MS = 10_000

const ARCHIVED = 'the pool is known only from the archive'

/** Returns the reserves of pools in order; unknown for archived pools. Waits for the node as `PoolDirectory.within` does. */
export async function readReserves(
  accounts: Pick<AccountServices, 'pools'> | null,
  rows: readonly MarketPool[]
): Promise<readonly PoolReserves[]> {
  const without = (row: MarketPool): PoolReserves =>
    reservesOf(row, null, row.isArchived ? ARCHIVED : 'this process has no node to read accounts from')
  if (accounts === null) return rows.map(without)
  const live = rows.filter(({ isArchived }) => isArchived === undefined)
  const answers = new Map((await accounts.pools.within(live)).map((answer, at) => [live[at]!, answer]))
  return rows.map((row) => {
    const answer = answers.get(row)
    return answer === undefined ? without(row) : reservesOf(row, answer.known, answer.fault)
  })
}

/** Pools valued with the cached state of their accounts. */
export interface ValuedPools {
  readonly pools: readonly PoolRow[]
  /** Slot of the oldest account reading used; null if all reserves come from trades. */
  readonly slot: number | null
  /** Pools whose accounts are not read yet. */
  readonly unread: readonly PoolRow[]
  /** Milliseconds for which an answer based on these pools may be repeated; undefined for no limit. */
  readonly maxAgeMs: number | undefined
}

/**
 * Adds cached reserves to the pools whose trades state no reserves, without a request to the node. Missing or stale
 * reserves are refreshed in the background. Pools without a price and launchpad curves are left unchanged: their accounts
 * would not value them.
 */
export function knownReserves(
  accounts: Pick<AccountServices, 'pools'> | null,
  rows: readonly PoolRow[]
): ValuedPools {
  const slots: number[] = []
  const unread: PoolRow[] = []
  const pools = rows.map((row) => {
    if (accounts === null || row.reserves !== null || row.lastPrice === null || isLaunchpad(row.venue))
      return row
    accounts.pools.refresh(row)
    const known = accounts.pools.peek(row)
    if (known === null) unread.push(row)
    const found = reservesOf(row, known, null)
    if (found.slot !== null) slots.push(found.slot)
    return withReserves(row, found)
  })
  const isBare = slots.length === 0 && unread.length === 0
  return {
    pools,
    slot: slots.length === 0 ? null : Math.min(...slots),
    unread,
    maxAgeMs: isBare ? undefined : unread.length > 0 ? ANSWER_MS : REPEATED_MS
  }
}
