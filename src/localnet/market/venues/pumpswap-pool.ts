import type { Pubkey } from '../../../chain/pubkey.ts'
import { programAddress } from '../../../signing/program-address.ts'
import type { CallScript } from '../script.ts'
import { key, type Pair, type PoolSides, type PoolTokens } from './pool-sides.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Code shared by the instructions of PumpSwap. Source: pump-fun/pump-public-docs.

export const PUMPSWAP_PROGRAM = key('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA')
export const GLOBAL_CONFIG = key('ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw')
export const FEE_RECIPIENT = key('62qc2CNXwrYqQScmEdiZFFAnJR262PxWEuNQtxfafNgV')
/** The program that stores the fees of this program and of Pump.fun. */
export const PUMP_FEES = key('pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ')
/** Share of the fees for the creator of the coin. */
export const CREATOR_BPS = 5n
/** Shares that stay locked in the pool. */
export const LOCKED_SHARES = 100n

/** Returns the fee program's account with the fees of another program. */
export function feeConfigOf(program: Pubkey): Pubkey {
  return programAddress(['fee_config', program], PUMP_FEES)
}

export const pumpswap = new Program(PUMPSWAP_PROGRAM, 'self-call', {
  globalConfig: GLOBAL_CONFIG,
  feeRecipient: FEE_RECIPIENT,
  globalVolume: programAddress(['global_volume_accumulator'], PUMPSWAP_PROGRAM),
  feeConfig: feeConfigOf(PUMPSWAP_PROGRAM),
  feeProgram: PUMP_FEES
})
/** Event fields of trades and liquidity changes for the balances of user and pool. */
export const RESERVES = `userBaseTokenReserves:u64 userQuoteTokenReserves:u64 poolBaseTokenReserves:u64
  poolQuoteTokenReserves:u64`

const poolAccount = account(
  287,
  'f19a6d0411b16dbc',
  `bump:u8@8 index:u16@9 creator:pubkey@11 mints:pubkey[2]@43 lpMint:pubkey@107 vaults:pubkey[2]@139
  lpSupply:u64@203 coinCreator:pubkey@211 creatorFeeBps:u64@261`
)

export interface PumpswapPool extends PoolTokens {
  readonly address: Pubkey
  readonly creator: Pubkey
  /** The coin's creator, who receives the creator fees. */
  readonly coinCreator: Pubkey
  readonly creatorVault: Pubkey
  readonly lpMint: Pubkey
  readonly index: number
  lpSupply: bigint
}

export function pumpswapSides(pool: PumpswapPool): PumpswapPool & PoolSides {
  return { ...pool, baseSide: 0 }
}

export function reservesStated(user: Pair, pool: Pair) {
  return {
    userBaseTokenReserves: user[0],
    userQuoteTokenReserves: user[1],
    poolBaseTokenReserves: pool[0],
    poolQuoteTokenReserves: pool[1]
  }
}

export function writeState(call: CallScript, pool: PumpswapPool): void {
  call.write(pool.address, poolAccount({ ...pool, bump: 255, creatorFeeBps: CREATOR_BPS }))
}
