import type { Pubkey } from '../../../chain/pubkey.ts'
import type { CallScript, LedgerView } from '../script.ts'
import { AccountBytes } from './account-bytes.ts'
import { key } from './pool-sides.ts'
import { SelfCall } from './self-call.ts'

// What the instructions of PumpSwap have in common. Source: pump-fun/pump-public-docs.

export const PUMPSWAP_PROGRAM = key('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA')
export const GLOBAL_CONFIG = key('ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw')
export const FEE_RECIPIENT = key('62qc2CNXwrYqQScmEdiZFFAnJR262PxWEuNQtxfafNgV')
/** Of the fees, what goes to who launched the coin. */
export const CREATOR_BPS = 5n
/** Shares that nobody gets. */
export const LOCKED_SHARES = 100n

export const events = new SelfCall(PUMPSWAP_PROGRAM)

export interface PumpswapPool {
  readonly address: Pubkey
  readonly mints: readonly [Pubkey, Pubkey]
  readonly vaults: readonly [Pubkey, Pubkey]
  readonly creator: Pubkey
  /** Who gets the creator's fees: the one who launched the coin. */
  readonly coinCreator: Pubkey
  readonly creatorVault: Pubkey
  readonly lpMint: Pubkey
  readonly index: number
  lpSupply: bigint
}

export function reservesStated(user: readonly [bigint, bigint], pool: readonly [bigint, bigint]) {
  return {
    userBaseTokenReserves: user[0],
    userQuoteTokenReserves: user[1],
    poolBaseTokenReserves: pool[0],
    poolQuoteTokenReserves: pool[1]
  }
}

export function tokenAccounts(
  pool: PumpswapPool,
  owner: Pubkey,
  ledger: LedgerView
): readonly [Pubkey, Pubkey] {
  return [ledger.tokenAccountOf(owner, pool.mints[0]), ledger.tokenAccountOf(owner, pool.mints[1])]
}

export function programsOf({ mints }: PumpswapPool, ledger: LedgerView): readonly [Pubkey, Pubkey] {
  return [ledger.mint(mints[0]).program, ledger.mint(mints[1]).program]
}

export function reserves({ vaults }: PumpswapPool, ledger: LedgerView): readonly [bigint, bigint] {
  return [ledger.tokens(vaults[0]), ledger.tokens(vaults[1])]
}

export function writeState(call: CallScript, pool: PumpswapPool): void {
  const state = new AccountBytes(287, 'f19a6d0411b16dbc')
    .u8(8, 255)
    .u16(9, pool.index)
    .key(11, pool.creator)
    .key(43, pool.mints[0])
    .key(75, pool.mints[1])
    .key(107, pool.lpMint)
    .key(139, pool.vaults[0])
    .key(171, pool.vaults[1])
    .u64(203, pool.lpSupply)
    .key(211, pool.coinCreator)
    .u64(261, CREATOR_BPS)
  call.write(pool.address, state.bytes)
}
