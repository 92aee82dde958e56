import { pubkeyFromBase58, type Pubkey } from '../../../chain/pubkey.ts'
import type { CallScript, LedgerView, TokenCalls } from '../script.ts'
import type { MarketPool, NewPool, VenueWorld } from '../venue.ts'

/** The place of a venue's instruction: a transaction, or a call that routes or migrates. */
export type Caller = TokenCalls

export type Side = 0 | 1
export type Pair = readonly [bigint, bigint]

export type Keys = readonly [Pubkey, Pubkey]

/** A pool's two mints with their vaults, in the order of its program. */
export interface PoolTokens {
  readonly mints: Keys
  readonly vaults: Keys
}

export interface PoolSides extends PoolTokens {
  /** Index of the traded token; the other token is its currency. */
  readonly baseSide: Side
}

/** The largest token amount. */
export const U64_MAX = (1n << 64n) - 1n

/** Creates sides with new vault addresses; some programs sort their mints by bytes. */
export function newSides(pool: NewPool, world: VenueWorld, order: 'sorted' | 'as-given'): PoolSides {
  const baseSide = order === 'sorted' && Buffer.compare(pool.base, pool.quote) > 0 ? 1 : 0
  return {
    mints: baseSide === 0 ? [pool.base, pool.quote] : [pool.quote, pool.base],
    vaults: [newAddress(world), newAddress(world)],
    baseSide
  }
}

export function newAddress(world: VenueWorld): Pubkey {
  return world.random.bytes(32)
}

/** Returns a new pool's amounts, in the order of its sides. */
export function startAmounts({ baseSide }: PoolSides, pool: NewPool): Pair {
  return baseSide === 0 ? [pool.baseAmount, pool.quoteAmount] : [pool.quoteAmount, pool.baseAmount]
}

/** Returns the side that a trader pays into; the other side pays out. */
export function sideIn({ baseSide }: PoolSides, isBuy: boolean): Side {
  return isBuy ? otherSide(baseSide) : baseSide
}

export function otherSide(side: Side): Side {
  return side === 0 ? 1 : 0
}

/** Adds an amount, which may be negative, to one side of a pair. */
export function addToSide(pair: Pair, side: Side, amount: bigint): Pair {
  return side === 0 ? [pair[0] + amount, pair[1]] : [pair[0], pair[1] + amount]
}

export function vaultBalances({ vaults }: PoolTokens, ledger: LedgerView): Pair {
  return [ledger.tokens(vaults[0]), ledger.tokens(vaults[1])]
}

/** Returns the price of a raw unit of base in raw units of quote, as the ratio of the reserves. */
export function ratioPrice({ baseSide }: PoolSides, reserves: Pair): number {
  return Number(reserves[otherSide(baseSide)]) / Number(reserves[baseSide])
}

export function decimalsOf({ mints }: PoolTokens, ledger: LedgerView): readonly [number, number] {
  return [ledger.mint(mints[0]).decimals, ledger.mint(mints[1]).decimals]
}

export function tokenPrograms({ mints }: PoolTokens, ledger: LedgerView): Keys {
  return [ledger.mint(mints[0]).program, ledger.mint(mints[1]).program]
}

/** Returns a user's associated token accounts of both mints. */
export function userAccounts({ mints }: Pick<PoolTokens, 'mints'>, owner: Pubkey, ledger: LedgerView): Keys {
  return [ledger.tokenAccountOf(owner, mints[0]), ledger.tokenAccountOf(owner, mints[1])]
}

/**
 * Tells whether a change of these amounts is possible: both are positive, and no more than the provider or the pool has.
 * Otherwise nothing is written.
 */
export function canMove(
  pool: PoolTokens,
  ledger: LedgerView,
  provider: Pubkey,
  adds: boolean,
  amounts: Pair
): boolean {
  if (amounts[0] <= 0n || amounts[1] <= 0n) return false
  const [held0, held1] = vaultBalances(pool, ledger)
  if (!adds) return amounts[0] <= held0 && amounts[1] <= held1
  const [own0, own1] = userAccounts(pool, provider, ledger)
  if (amounts[0] > ledger.tokens(own0) || amounts[1] > ledger.tokens(own1)) return false
  return held0 + amounts[0] <= U64_MAX && held1 + amounts[1] <= U64_MAX
}

/** Returns a pool's and a user's accounts, by their names in account lists. */
export function poolAddresses<Pool extends PoolTokens & MarketPool>(
  pool: Pool,
  user: Pubkey,
  ledger: LedgerView
) {
  const users = userAccounts(pool, user, ledger)
  return { ...pool, pool: pool.address, users, programs: tokenPrograms(pool, ledger) }
}

/** Creates both vaults under an authority. */
export function createVaults(call: CallScript, { mints, vaults }: PoolTokens, authority: Pubkey): void {
  call.createTokenAccount(vaults[0], authority, mints[0])
  call.createTokenAccount(vaults[1], authority, mints[1])
}

/**
 * Moves tokens from a user's accounts into both vaults, signed by the owner, or out of them, signed by their authority.
 */
export function moveBoth(
  call: CallScript,
  { mints, vaults, users }: PoolTokens & { readonly users: Keys },
  way: 'in' | 'out',
  authority: Pubkey,
  amounts: Pair,
  checked = true
): void {
  for (const side of [0, 1] as const) {
    const [user, vault] = [users[side], vaults[side]]
    const [from, to] = way === 'in' ? [user, vault] : [vault, user]
    call.transfer({ mint: mints[side], from, to, authority, amount: amounts[side], checked })
  }
}

/** Returns the Unix seconds of the block; zero below a call, which does not know it. */
export function timeOf(script: Caller): bigint {
  return 'blockTime' in script && typeof script.blockTime === 'number' ? BigInt(script.blockTime) : 0n
}

export function slotOf(script: Caller): bigint {
  return 'slot' in script && typeof script.slot === 'number' ? BigInt(script.slot) : 0n
}

/** Decodes an address constant. */
export const key = pubkeyFromBase58
