import {
  distinctPubkeys,
  pubkeyFromBase58,
  pubkeyMapKey,
  samePubkey,
  type Pubkey
} from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { VENUES } from '../../chain/venues.ts'
import type { AccountSet } from '../account-set.ts'
import { ACCOUNTS_AT_ONCE } from '../node-client.ts'
import type { Account, AccountNode } from '../ports.ts'
import { refused, type Refused } from '../refused.ts'
import { accountSetOf, type SourceAccount } from '../source-accounts.ts'
import { readDbcCurve, readLaunchlabCurve, readMoonshotCurve, readPumpfunCurve } from './launch-curves.ts'
import type { PoolState, PoolSubject } from './pool-state.ts'
import { readSharedVaultPool } from './shared-vault-pool.ts'
import { readVaultPool, VAULT_POOLS } from './vault-pools.ts'

/**
 * Maximum consecutive requests for one pool: its account, the accounts that it names, and those that these name. A
 * further request finds nothing new.
 */
const ROUNDS_MAX = 4

/** The outcome of reading a pool: its state or the reason for a refusal, with the other accounts that were needed. */
export interface PoolReading {
  readonly state: PoolState | Refused
  readonly accounts: readonly Pubkey[]
}

/** A pool to read. `accounts` are the other accounts that an earlier reading needed. */
export interface PoolAsk {
  readonly subject: PoolSubject
  readonly accounts: readonly Pubkey[]
}

type Reader = (account: Account, accounts: AccountSet) => PoolState | Refused

const CURVES: Partial<Readonly<Record<VenueId, Reader>>> = {
  pumpfun: readPumpfunCurve,
  'raydium-launchlab': readLaunchlabCurve,
  'meteora-dbc': readDbcCurve,
  moonshot: readMoonshotCurve,
  'meteora-damm-v1': readSharedVaultPool
}

const PROGRAMS: ReadonlyMap<VenueId, readonly Pubkey[]> = new Map(
  VENUES.map(({ id, programs }) => [id, programs.map(pubkeyFromBase58)])
)

/** Reads a pool from accounts of one slot. The result is void if `accounts` then has unread addresses. */
export function readPool({ pool, venue }: PoolSubject, accounts: AccountSet): PoolState | Refused {
  const account = accounts.get(pool)
  if (account === null) return refused('does not exist')
  if (PROGRAMS.get(venue)?.some((program) => samePubkey(program, account.owner)) !== true)
    return refused('is owned by another program')
  const vaultPool = VAULT_POOLS[venue]
  if (vaultPool !== undefined) return readVaultPool(vaultPool, account, accounts)
  return CURVES[venue]?.(account, accounts) ?? refused('is of a venue whose accounts are not read')
}

/** The state of a pool, with the accounts that it was read from; null if they do not determine it alone. */
export interface ReadPool {
  readonly reading: PoolReading
  readonly slot: number
  readonly sources: readonly SourceAccount[] | null
}

/** Returns the state of a pool from accounts of one reading; null if it needs others. */
export function poolReading(subject: PoolSubject, sources: readonly SourceAccount[]): PoolReading | null {
  const set = accountSetOf(sources)
  const state = readPool(subject, set)
  if (set.unread.length > 0) return null
  const others = sources.filter(({ address }) => !samePubkey(address, subject.pool))
  return { state, accounts: others.map(({ address }) => address) }
}

/**
 * Reads pools in the given order, each from accounts of one slot. A pool whose accounts are known takes one request,
 * shared with other pools; a new pool takes a second or third. Rejects like the node.
 */
export async function readPools(
  node: AccountNode,
  asks: readonly PoolAsk[],
  signal: AbortSignal
): Promise<readonly ReadPool[]> {
  const found: ReadPool[] = []
  let open = asks.map((ask, place) => ({ ...ask, place }))
  for (let round = 1; open.length > 0; round++) {
    const next: typeof open = []
    const batches = batchesOf(open).map(async (batch) => {
      const addresses = distinctPubkeys(batch.flatMap(({ subject, accounts }) => [subject.pool, ...accounts]))
      const { slot, accounts } = await node.accounts(addresses, signal)
      const known = new Map(addresses.map((address, at) => [pubkeyMapKey(address), accounts[at] ?? null]))
      for (const ask of batch) {
        // Accounts that other pools of the batch need are not among its sources: alone they would not determine it.
        const sources = [ask.subject.pool, ...ask.accounts].map((address) => ({
          address,
          account: known.get(pubkeyMapKey(address)) ?? null
        }))
        const set = accountSetOf(sources)
        const state = readPool(ask.subject, set)
        const { unread } = set
        if (unread.length === 0)
          found[ask.place] = { reading: { state, accounts: ask.accounts }, slot, sources }
        else if (round < ROUNDS_MAX) next.push({ ...ask, accounts: [...ask.accounts, ...unread] })
        else {
          const reading = { state: refused('names ever more accounts'), accounts: [] }
          found[ask.place] = { reading, slot, sources: null }
        }
      }
    })
    await Promise.all(batches)
    open = next
  }
  return found
}

/** Divides pools into requests. All accounts of a pool are in one request, and so at one slot. */
function batchesOf<A extends PoolAsk>(asks: readonly A[]): A[][] {
  const batches: A[][] = []
  let room = 0
  for (const ask of asks) {
    const size = 1 + ask.accounts.length
    if (batches.length === 0 || size > room) {
      batches.push([])
      room = ACCOUNTS_AT_ONCE
    }
    batches.at(-1)!.push(ask)
    room -= size
  }
  return batches
}
