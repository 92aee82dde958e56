import type { AccountServices } from '../../accounts/services.ts'
import type { KnownPool } from '../../accounts/pools/pool-directory.ts'
import { reservesOf, withReserves, type PoolReserves } from '../../accounts/pools/live-reserves.ts'
import type { MarketPool } from '../../archive/market-stores.ts'
import { isLaunchpad } from '../../market/curves.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import { ANSWER_MS } from '../../accounts/routes/account-services.ts'
import { allOf } from './known-mint.ts'

const ARCHIVED = 'the pool is known only from the archive'

/** Reserves of pools, and whether no newer reading has replaced those used. */
export interface ReadReserves {
  readonly reserves: readonly PoolReserves[]
  readonly isCurrent: () => boolean
}

/** Returns the reserves of pools in order; unknown for archived pools. Waits for the node as `PoolDirectory.within` does. */
export async function readReserves(
  accounts: Pick<AccountServices, 'pools'> | null,
  rows: readonly MarketPool[]
): Promise<ReadReserves> {
  const without = (row: MarketPool): PoolReserves =>
    reservesOf(row, null, row.isArchived ? ARCHIVED : 'this process has no node to read accounts from')
  if (accounts === null) return { reserves: rows.map(without), isCurrent: () => true }
  const live = rows.filter(({ isArchived }) => isArchived === undefined)
  const answers = new Map((await accounts.pools.within(live)).map((answer, at) => [live[at]!, answer]))
  return {
    reserves: rows.map((row) => {
      const answer = answers.get(row)
      return answer === undefined ? without(row) : reservesOf(row, answer.known, answer.fault)
    }),
    isCurrent: allOf(Array.from(answers, ([row, { known }]) => accounts.pools.untilReplaced(row, known)))
  }
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
  /** Tells whether no newer reading has replaced those used. */
  readonly isCurrent: () => boolean
  /** Reads the stored readings, if changes by other processes are not heard. Waits a short time, never rejects. */
  readonly confirm: () => Promise<void>
}

/**
 * Adds known reserves to the pools whose trades state no reserves, without a request to the node: those that this process
 * or another one has read. Missing or stale reserves are refreshed in the background. Pools without a price and launchpad
 * curves are left unchanged: their accounts would not value them.
 */
export async function knownReserves(
  accounts: Pick<AccountServices, 'pools'> | null,
  rows: readonly PoolRow[]
): Promise<ValuedPools> {
  const lacking = accounts === null ? [] : rows.filter(lacksReserves)
  if (accounts === null || lacking.length === 0)
    return {
      ...{ pools: rows, slot: null, unread: [], maxAgeMs: undefined },
      isCurrent: () => true,
      confirm: async () => undefined
    }
  await accounts.pools.recall(lacking)
  const read = new Map(
    lacking.map((row) => {
      accounts.pools.refresh(row)
      return [row, accounts.pools.peek(row)] as const
    })
  )
  const slots: number[] = []
  const pools = rows.map((row) => {
    const known = read.get(row)
    if (known === undefined) return row
    const found = reservesOf(row, known, null)
    if (found.slot !== null) slots.push(found.slot)
    return withReserves(row, found)
  })
  const unread = lacking.filter((row) => read.get(row) === null)
  return {
    pools,
    slot: slots.length === 0 ? null : Math.min(...slots),
    unread,
    maxAgeMs: unread.length > 0 ? ANSWER_MS : accounts.pools.repeatMs,
    isCurrent: allOf(lacking.map((row) => untilValuedAnew(accounts.pools, row, read.get(row) ?? null))),
    confirm: () => accounts.pools.recall(lacking)
  }
}

/** Returns whether no other reading values a pool than the one used. One that gives no reserves is like none. */
function untilValuedAnew(
  pools: AccountServices['pools'],
  row: PoolRow,
  known: KnownPool | null
): () => boolean {
  const isNewest = pools.untilReplaced(row, known)
  const isValued = (reading: KnownPool | null): boolean => reservesOf(row, reading, null).slot !== null
  return () => isNewest() || (!isValued(known) && !isValued(pools.peek(row)))
}

/** Tells whether only its accounts would value a pool. */
const lacksReserves = ({ reserves, lastPrice, venue }: PoolRow): boolean =>
  reserves === null && lastPrice !== null && !isLaunchpad(venue)
