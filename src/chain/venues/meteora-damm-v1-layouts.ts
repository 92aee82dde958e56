import { array, bool, option, pubkey, struct, u32, u64, u8 } from '../codec.ts'
import { LayoutTable, instruction, layout, type Layout } from '../layout.ts'

// Source: IDL 0.5.3 of @meteora-ag/dynamic-amm-sdk 1.4.1.

export const swap = instruction(
  'swap',
  'f8c69e91e17587c8',
  { inAmount: u64, minimumOutAmount: u64 },
  {
    pool: 0,
    userSourceToken: 1,
    userDestinationToken: 2,
    aVault: 3,
    bVault: 4,
    aTokenVault: 5,
    bTokenVault: 6,
    aVaultLpMint: 7,
    bVaultLpMint: 8,
    protocolTokenFee: 11,
    user: 12
  }
)

const LIQUIDITY = {
  pool: 0,
  lpMint: 1,
  aVaultLpMint: 7,
  bVaultLpMint: 8,
  aTokenVault: 9,
  bTokenVault: 10,
  user: 13
}

export const ADDS = [
  instruction(
    'addBalanceLiquidity',
    'a8e3323ebdab54b0',
    { poolTokenAmount: u64, maximumTokenAAmount: u64, maximumTokenBAmount: u64 },
    LIQUIDITY
  ),
  instruction(
    'addImbalanceLiquidity',
    '4f237a54ad0f5dbf',
    { minimumPoolTokenAmount: u64, tokenAAmount: u64, tokenBAmount: u64 },
    LIQUIDITY
  ),
  instruction('bootstrapLiquidity', '04e4d747e1fd77ce', { tokenAAmount: u64, tokenBAmount: u64 }, LIQUIDITY)
] as const

export const REMOVES = [
  instruction(
    'removeBalanceLiquidity',
    '856d2cb338ee7221',
    { poolTokenAmount: u64, minimumATokenOut: u64, minimumBTokenOut: u64 },
    LIQUIDITY
  ),
  instruction(
    'removeLiquiditySingleSide',
    '5454b142feb90afb',
    { poolTokenAmount: u64, minimumOutAmount: u64 },
    { ...LIQUIDITY, user: 12 }
  )
] as const

const depeg = struct({ baseVirtualPrice: u64, baseCacheUpdated: u64, depegType: u8 })
const stableCurve = struct({
  amp: u64,
  tokenMultiplier: struct({ tokenAMultiplier: u64, tokenBMultiplier: u64, precisionFactor: u8 }),
  depeg,
  lastAmpUpdatedTimestamp: u64
})
/** Null for a constant product. Tag 1 and a stable curve follow the encoding of an option. */
const curveType = option(stableCurve)
const TOKENS = { tokenAAmount: u64, tokenBAmount: u64 }
const CREATED = {
  pool: 0,
  lpMint: 1,
  tokenAMint: 2,
  tokenBMint: 3,
  aTokenVault: 6,
  bTokenVault: 7,
  payer: 17
}
/** Creations that take a config account before the pool's mints. */
const CREATED_WITH_CONFIG = {
  pool: 0,
  lpMint: 2,
  tokenAMint: 3,
  tokenBMint: 4,
  aTokenVault: 7,
  bTokenVault: 8,
  payer: 18
}

/** A permissioned pool starts empty and is filled by its first bootstrap. */
export const initializePermissionedPool = instruction(
  'initializePermissionedPool',
  '4d55b29d3230d47e',
  { curveType },
  { pool: 0, lpMint: 1, tokenAMint: 2, tokenBMint: 3, payer: 15 }
)
export const initializeWithFeeTier = instruction(
  'initializePermissionlessPoolWithFeeTier',
  '06874493e552a971',
  { curveType, tradeFeeBps: u64, ...TOKENS },
  CREATED
)
export const initializeCustomizable = instruction(
  'initializeCustomizablePermissionlessConstantProductPool',
  '9118acc2db7d03be',
  {
    ...TOKENS,
    tradeFeeNumerator: u32,
    activationPoint: option(u64),
    hasAlphaVault: bool,
    activationType: u8,
    padding: array(u8, 90)
  },
  CREATED
)
export const INITIALIZES = [
  instruction('initializePermissionlessPool', '76ad299dad486167', { curveType, ...TOKENS }, CREATED),
  initializeWithFeeTier,
  initializeCustomizable,
  instruction(
    'initializePermissionlessConstantProductPoolWithConfig',
    '07a68aabceabecf4',
    TOKENS,
    CREATED_WITH_CONFIG
  ),
  instruction(
    'initializePermissionlessConstantProductPoolWithConfig2',
    '3095dc823d0b09b2',
    { ...TOKENS, activationPoint: option(u64) },
    CREATED_WITH_CONFIG
  )
] as const

/** Instructions that neither trade nor move liquidity. */
const OTHERS = [
  instruction('enableOrDisablePool', '8006e48337a134a9', { enable: bool }, {}),
  instruction('setPoolFees', '662c9e36cd257e4e', {}, {}),
  instruction('overrideCurveParam', '6256cc335e4745bb', {}, {}),
  instruction('getPoolInfo', '0930dc6516f04ec8', {}, {}),
  instruction('createMintMetadata', '0d46a829fa64945a', {}, {}),
  instruction('createLockEscrow', '3657a51345e3dae0', {}, {}),
  instruction('lock', '1513d02bed3eff57', { maxAmount: u64 }, {}),
  instruction('claimFee', 'a9204f8988e84689', { maxAmount: u64 }, {}),
  instruction('createConfig', 'c9cff3724b6f2fbd', {}, {}),
  instruction('closeConfig', '9109489d5f7d3d55', {}, {}),
  instruction('updateActivationPoint', '963e7ddbabdc1aed', { newActivationPoint: u64 }, {}),
  instruction('withdrawProtocolFees', '0b44a56212d08649', {}, {}),
  instruction('setWhitelistedVault', '0c945e2a373953f7', { whitelistedVault: pubkey }, {}),
  instruction('partnerClaimFee', '3935b01e7b463440', { maxAmountA: u64, maxAmountB: u64 }, {}),
  instruction('moveLockedLp', '28d22235e95fe88f', { maxAmount: u64 }, {})
]

export const METEORA_DAMM_V1_INSTRUCTIONS = new LayoutTable([
  swap,
  ...ADDS,
  ...REMOVES,
  initializePermissionedPool,
  ...INITIALIZES,
  ...OTHERS
])

/** Amounts follow from the vault's shares and may be a few units below the transferred ones. */
export const swapEvent = layout('Swap', '516ce3becdd00ac4', {
  inAmount: u64,
  outAmount: u64,
  tradeFee: u64,
  protocolFee: u64,
  hostFee: u64
})
export const addLiquidityEvent = layout('AddLiquidity', '1f5e7d5ae3343dba', {
  lpMintAmount: u64,
  tokenAAmount: u64,
  tokenBAmount: u64
})
export const removeLiquidityEvent = layout('RemoveLiquidity', '74f461e8671f983a', {
  lpUnmintAmount: u64,
  tokenAOutAmount: u64,
  tokenBOutAmount: u64
})
export const bootstrapLiquidityEvent = layout('BootstrapLiquidity', '797f26885c370ef7', {
  lpMintAmount: u64,
  tokenAAmount: u64,
  tokenBAmount: u64,
  pool: pubkey
})
export const poolCreatedEvent = layout('PoolCreated', 'ca2c295868dc9d52', {
  lpMint: pubkey,
  tokenAMint: pubkey,
  tokenBMint: pubkey,
  poolType: u8,
  pool: pubkey
})

const OTHER_EVENTS = [
  layout('SetPoolFees', 'f51ac6a458124b09', {
    tradeFeeNumerator: u64,
    tradeFeeDenominator: u64,
    protocolTradeFeeNumerator: u64,
    protocolTradeFeeDenominator: u64,
    pool: pubkey
  }),
  layout('PoolInfo', 'cf145761fbd4ea2d', {
    tokenAAmount: u64,
    tokenBAmount: u64,
    virtualPrice: u64,
    currentTimestamp: u64
  }),
  layout('TransferAdmin', 'e4a983f43d3841fe', { admin: pubkey, newAdmin: pubkey, pool: pubkey }),
  layout('OverrideCurveParam', 'f714a5f84b0536f6', { newAmp: u64, updatedTimestamp: u64, pool: pubkey }),
  layout('PoolEnabled', '02971253cc865cbf', { pool: pubkey, enabled: bool }),
  layout('MigrateFeeAccount', 'dfeae81afc69b47d', {
    pool: pubkey,
    newAdminTokenAFee: pubkey,
    newAdminTokenBFee: pubkey,
    tokenAAmount: u64,
    tokenBAmount: u64
  }),
  layout('CreateLockEscrow', '4a5e6a8d3111626d', { pool: pubkey, owner: pubkey }),
  layout('Lock', 'dcb743d799cf38ea', { pool: pubkey, owner: pubkey, amount: u64 }),
  layout('ClaimFee', '4b7a9a308c4a7ba3', { pool: pubkey, owner: pubkey, amount: u64, aFee: u64, bFee: u64 }),
  layout('CreateConfig', 'c7980a1327279d68', {
    tradeFeeNumerator: u64,
    protocolTradeFeeNumerator: u64,
    config: pubkey
  }),
  layout('CloseConfig', 'f9b56c5904965aae', { config: pubkey }),
  layout('WithdrawProtocolFees', '1ef0cfc48bef4f1c', {
    pool: pubkey,
    protocolAFee: u64,
    protocolBFee: u64,
    protocolAFeeOwner: pubkey,
    protocolBFeeOwner: pubkey
  }),
  layout('PartnerClaimFees', '87830a5e77d1ca30', { pool: pubkey, feeA: u64, feeB: u64, partner: pubkey }),
  layout('MoveLockedLp', 'd81004174d5aaa8b', {
    pool: pubkey,
    fromLockEscrow: pubkey,
    toLockEscrow: pubkey,
    amount: u64
  })
]

export const METEORA_DAMM_V1_EVENTS = new LayoutTable<Layout<unknown>>([
  swapEvent,
  addLiquidityEvent,
  removeLiquidityEvent,
  bootstrapLiquidityEvent,
  poolCreatedEvent,
  ...OTHER_EVENTS
])
