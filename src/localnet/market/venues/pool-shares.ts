import type { Pubkey } from '../../../chain/pubkey.ts'
import { shareWorth, sharesOf } from '../curves/constant-product.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { MarketPool, VenueWorld } from '../venue.ts'
import {
  canMove,
  moveBoth,
  tokenPrograms,
  userAccounts,
  vaultBalances,
  type Caller,
  type Keys,
  type Pair,
  type PoolTokens
} from './pool-sides.ts'

/** A change of liquidity for shares, with its accounts by their names in account lists. */
export interface SharesChange extends PoolTokens {
  readonly adds: boolean
  readonly shares: bigint
  readonly amounts: Pair
  /** Shares and reserves before the change. */
  readonly supply: bigint
  readonly reserves: Pair
  readonly provider: Pubkey
  readonly pool: Pubkey
  readonly lpMint: Pubkey
  readonly lpAccount: Pubkey
  readonly users: Keys
  readonly programs: Keys
}

interface SharesOf<Pool> {
  lpMint(pool: Pool): Pubkey
  /** Returns all shares, locked ones included; by default the supply of the LP mint. */
  supply?(pool: Pool): bigint
  /** Returns the reserves that the shares divide; by default the vaults' balances. */
  reserves?(pool: Pool, ledger: LedgerView): Pair
  write(script: Caller, pool: Pool, change: SharesChange, ledger: LedgerView): void
}

/** Returns the liquidity changes of a venue whose providers have shares of the whole pool. */
export function sharesLiquidity<Pool extends PoolTokens & MarketPool>(venue: SharesOf<Pool>) {
  return (script: Caller, pool: Pool, by: Pubkey, thousandths: number, { ledger }: VenueWorld): void => {
    const adds = thousandths > 0
    const lpMint = venue.lpMint(pool)
    const supply = venue.supply?.(pool) ?? ledger.mint(lpMint).supply
    if (supply === 0n) return
    const reserves = venue.reserves?.(pool, ledger) ?? vaultBalances(pool, ledger)
    const lpAccount = ledger.tokenAccountOf(by, lpMint)
    const shares = sharesOf(thousandths, supply, ledger.tokens(lpAccount))
    const amounts = shareWorth(shares, supply, reserves, adds ? 'up' : 'down')
    if (!canMove(pool, ledger, by, adds, amounts)) return
    if (adds) script.ensureTokenAccount(by, lpMint)
    const { address, mints, vaults } = pool
    const users = userAccounts(pool, by, ledger)
    const programs = tokenPrograms(pool, ledger)
    const addresses = { provider: by, pool: address, lpMint, lpAccount, mints, vaults, users, programs }
    venue.write(script, pool, { adds, shares, amounts, supply, reserves, ...addresses }, ledger)
  }
}

/** Mints a provider's shares, or burns them. */
export function moveLpTokens(call: CallScript, change: SharesChange, authority: Pubkey): void {
  const { adds, lpMint: mint, lpAccount, provider, shares: amount } = change
  if (adds) call.mintTo({ mint, to: lpAccount, authority, amount })
  else call.burn({ mint, from: lpAccount, authority: provider, amount })
}

/** Moves the tokens of both sides; mints shares afterwards, or burns them before or afterwards. */
export function moveShares(
  call: CallScript,
  change: SharesChange,
  authority: Pubkey,
  burns: 'first' | 'last',
  checked = true
): void {
  const { adds, provider, amounts } = change
  const burnsFirst = !adds && burns === 'first'
  if (burnsFirst) moveLpTokens(call, change, authority)
  moveBoth(call, change, adds ? 'in' : 'out', adds ? provider : authority, amounts, checked)
  if (!burnsFirst) moveLpTokens(call, change, authority)
}
