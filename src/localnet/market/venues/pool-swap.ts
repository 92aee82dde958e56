import type { Pubkey } from '../../../chain/pubkey.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { Executed, MarketPool, Swap, VenueWorld } from '../venue.ts'
import {
  U64_MAX,
  otherSide,
  sideIn,
  tokenPrograms,
  userAccounts,
  vaultBalances,
  type Caller,
  type Keys,
  type PoolSides,
  type Side
} from './pool-sides.ts'

/** The direction of a swap, and its accounts by their names in account lists. */
export interface SwapRoute {
  readonly from: Side
  readonly to: Side
  readonly trader: Pubkey
  readonly pool: Pubkey
  /** The trader's accounts and their token programs, in the order of the pool's mints. */
  readonly users: Keys
  readonly programs: Keys
  readonly mintIn: Pubkey
  readonly mintOut: Pubkey
  readonly userIn: Pubkey
  readonly userOut: Pubkey
  readonly vaultIn: Pubkey
  readonly vaultOut: Pubkey
  readonly programIn: Pubkey
  readonly programOut: Pubkey
}

export function swapRoute(
  pool: PoolSides & MarketPool,
  { trader, isBuy }: Swap,
  ledger: LedgerView
): SwapRoute {
  const { address, mints, vaults } = pool
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const users = userAccounts(pool, trader, ledger)
  const programs = tokenPrograms(pool, ledger)
  return {
    from,
    to,
    trader,
    pool: address,
    users,
    programs,
    mintIn: mints[from],
    mintOut: mints[to],
    userIn: users[from],
    userOut: users[to],
    vaultIn: vaults[from],
    vaultOut: vaults[to],
    programIn: programs[from],
    programOut: programs[to]
  }
}

/** A quote of a swap, with the input amount. */
export type Swapped<Quote extends (...given: never[]) => unknown> = NonNullable<ReturnType<Quote>> & Executed

/**
 * Builds a venue's swap from two functions. `quote` returns the output, and the input if it is less than the offered
 * amount, without changing anything. `write` changes the pool and writes the instruction. A swap without an output, or
 * above a vault's maximum, is refused.
 */
export function swapOf<Pool, Quote extends { readonly amountOut: bigint; readonly amountIn?: bigint }>(
  sidesOf: (pool: Pool) => PoolSides & MarketPool,
  quote: (pool: Pool, route: SwapRoute, offered: bigint, world: VenueWorld) => Quote | null,
  write: (script: Caller, pool: Pool, route: SwapRoute, swapped: Quote & Executed, world: VenueWorld) => void
): (script: Caller, pool: Pool, swap: Swap, world: VenueWorld) => Executed | null {
  return (script, pool, swap, world) => {
    const sides = sidesOf(pool)
    const route = swapRoute(sides, swap, world.ledger)
    const quoted = quote(pool, route, swap.amountIn, world)
    if (quoted === null || quoted.amountOut <= 0n) return null
    const { amountOut, amountIn = swap.amountIn } = quoted
    if (vaultBalances(sides, world.ledger)[route.from] + amountIn > U64_MAX) return null
    write(script, pool, route, { ...quoted, amountIn }, world)
    return { amountIn, amountOut }
  }
}

/** Builds the swap of pools that have sides themselves; see swapOf. */
export function poolSwap<
  Pool extends PoolSides & MarketPool,
  Quote extends { readonly amountOut: bigint; readonly amountIn?: bigint }
>(
  quote: (pool: Pool, route: SwapRoute, offered: bigint, world: VenueWorld) => Quote | null,
  write: (script: Caller, pool: Pool, route: SwapRoute, swapped: Quote & Executed, world: VenueWorld) => void
) {
  return swapOf((pool: Pool) => pool, quote, write)
}

export function payIn(call: CallScript, route: SwapRoute, amount: bigint, checked = true): void {
  const { mintIn: mint, userIn: from, vaultIn: to, trader: authority } = route
  call.transfer({ mint, from, to, authority, amount, checked })
}

export function payOut(
  call: CallScript,
  { mintOut: mint, vaultOut: from, userOut: to }: SwapRoute,
  authority: Pubkey,
  amount: bigint,
  checked = true
): void {
  call.transfer({ mint, from, to, authority, amount, checked })
}

/** Writes the two transfers of a swap: into one vault, and out of the other by its authority. */
export function exchange(
  call: CallScript,
  route: SwapRoute,
  authority: Pubkey,
  { amountIn, amountOut }: Executed,
  checked = true
): void {
  payIn(call, route, amountIn, checked)
  payOut(call, route, authority, amountOut, checked)
}
