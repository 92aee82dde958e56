import { bool, pubkey, u64, u8 } from '../codec.ts'
import { instruction, layout } from '../layout.ts'

// Source: raydium-io/raydium-cp-swap, program source; raydium-io/raydium-idl. Events are in the log.

const SWAP_ACCOUNTS = {
  payer: 0,
  ammConfig: 2,
  poolState: 3,
  inputTokenAccount: 4,
  outputTokenAccount: 5,
  inputVault: 6,
  outputVault: 7,
  inputTokenMint: 10,
  outputTokenMint: 11
}

export const swapBaseInput = instruction(
  'swapBaseInput',
  '8fbe5adac41e33de',
  { amountIn: u64, minimumAmountOut: u64 },
  SWAP_ACCOUNTS
)
export const swapBaseOutput = instruction(
  'swapBaseOutput',
  '37d96256a34ab4ad',
  { maxAmountIn: u64, amountOut: u64 },
  SWAP_ACCOUNTS
)

const INITIAL_AMOUNTS = { initAmount0: u64, initAmount1: u64, openTime: u64 }

export const cpmmInitialize = instruction('initialize', 'afaf6d1f0d989bed', INITIAL_AMOUNTS, {
  creator: 0,
  ammConfig: 1,
  poolState: 3,
  token0Mint: 4,
  token1Mint: 5,
  lpMint: 6,
  token0Vault: 10,
  token1Vault: 11
})
export const cpmmInitializeWithPermission = instruction(
  'initializeWithPermission',
  '3f37fe4131b25979',
  { ...INITIAL_AMOUNTS, creatorFeeOn: u8 },
  {
    creator: 1,
    ammConfig: 2,
    poolState: 4,
    token0Mint: 5,
    token1Mint: 6,
    lpMint: 7,
    token0Vault: 11,
    token1Vault: 12
  }
)

const PROVIDER_ACCOUNTS = { owner: 0, poolState: 2, token0Vault: 6, token1Vault: 7, lpMint: 12 }

export const deposit = instruction(
  'deposit',
  'f223c68952e1f2b6',
  { lpTokenAmount: u64, maximumToken0Amount: u64, maximumToken1Amount: u64 },
  PROVIDER_ACCOUNTS
)
export const withdraw = instruction(
  'withdraw',
  'b712469c946da122',
  { lpTokenAmount: u64, minimumToken0Amount: u64, minimumToken1Amount: u64 },
  PROVIDER_ACCOUNTS
)

/** Settings, permissions and fee claims. */
export const UPKEEP = [
  instruction('createAmmConfig', '8934edd4d7756c68', {}, {}),
  instruction('updateAmmConfig', '313cae889a1c74c8', { param: u8, value: u64 }, {}),
  instruction('updatePoolStatus', '82576c062ee0757b', { status: u8 }, {}),
  instruction('collectProtocolFee', '8888fcddc2427e59', { amount0Requested: u64, amount1Requested: u64 }, {}),
  instruction('collectFundFee', 'a78a4e95dfc2067e', { amount0Requested: u64, amount1Requested: u64 }, {}),
  instruction('collectCreatorFee', '1416567bc61cdb84', {}, {}),
  instruction('createPermissionPda', '878802d889a9b5ca', {}, {}),
  instruction('closePermissionPda', '9c5420764587467b', {}, {})
] as const

/** Has 81 bytes until August 2025, then also mints and fees. */
export const swapEvent = layout(
  'SwapEvent',
  '40c6cde8260871e2',
  {
    poolId: pubkey,
    inputVaultBefore: u64,
    outputVaultBefore: u64,
    inputAmount: u64,
    outputAmount: u64,
    inputTransferFee: u64,
    outputTransferFee: u64,
    baseInput: bool
  },
  { inputMint: pubkey, outputMint: pubkey, tradeFee: u64, creatorFee: u64, creatorFeeOnInput: bool }
)
export type SwapStated = NonNullable<ReturnType<typeof swapEvent.read>>['value']

export const lpChangeEvent = layout('LpChangeEvent', '79a3cdc939da753c', {
  poolId: pubkey,
  lpAmountBefore: u64,
  token0VaultBefore: u64,
  token1VaultBefore: u64,
  token0Amount: u64,
  token1Amount: u64,
  token0TransferFee: u64,
  token1TransferFee: u64,
  changeType: u8
})
