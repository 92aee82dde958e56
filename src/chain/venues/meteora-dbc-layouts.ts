import { bool, pubkey, string, struct, u128, u64, u8, vec } from '../codec.ts'
import { LayoutTable, instruction, layout, type Layout } from '../layout.ts'

// Source: IDL 0.2.1 of @meteora-ag/dynamic-bonding-curve-sdk 1.5.12; items removed since from its IDL 0.1.4.

const SWAP = {
  config: 1,
  pool: 2,
  inputTokenAccount: 3,
  outputTokenAccount: 4,
  baseVault: 5,
  quoteVault: 6,
  baseMint: 7,
  quoteMint: 8,
  payer: 9,
  referralTokenAccount: 12
}
/** Mode 0 is exact in, 1 exact in that may end early, 2 exact out. */
const SWAP_2 = { amount0: u64, amount1: u64, swapMode: u8 }
const transferHookAccountsInfo = struct({ slices: vec(struct({ accountsType: u8, length: u8 })) })

export const swap = instruction('swap', 'f8c69e91e17587c8', { amountIn: u64, minimumAmountOut: u64 }, SWAP)
export const swap2 = instruction('swap2', '414b3f4ceb5b5b88', SWAP_2, SWAP)
export const swap2WithTransferHook = instruction(
  'swap2WithTransferHook',
  'b75d992818e6c297',
  { ...SWAP_2, transferHookAccountsInfo },
  SWAP
)

const LAUNCH = { name: string, symbol: string, uri: string }
const LAUNCHED = { config: 0, creator: 2, baseMint: 3, quoteMint: 4, pool: 5, baseVault: 6, quoteVault: 7 }

export const LAUNCHES = [
  instruction('initializeVirtualPoolWithSplToken', '8c55d7b06636684f', LAUNCH, LAUNCHED),
  instruction('initializeVirtualPoolWithToken2022', 'a976334e916edc9b', LAUNCH, LAUNCHED),
  instruction('initializeVirtualPoolWithToken2022TransferHook', 'b60de9b12a918702', LAUNCH, LAUNCHED)
] as const

export const migrateMeteoraDamm = instruction(
  'migrateMeteoraDamm',
  '1b013016b43f76d9',
  {},
  { virtualPool: 0, pool: 4, baseMint: 7, quoteMint: 8, payer: 22 }
)
export const migrationDammV2 = instruction(
  'migrationDammV2',
  '9ca9e66735e45040',
  {},
  { virtualPool: 0, pool: 4, baseMint: 13, quoteMint: 14, payer: 19 }
)

/** Instructions that neither trade nor change the curve. */
const OTHERS = [
  instruction('claimCreatorTradingFee', '52dcfabd03556b2d', { maxBaseAmount: u64, maxQuoteAmount: u64 }, {}),
  instruction(
    'claimCreatorTradingFee2',
    'eef7d55e6e91588e',
    { maxBaseAmount: u64, maxQuoteAmount: u64, transferHookAccountsInfo },
    {}
  ),
  instruction('claimPartnerPoolCreationFee', 'faee1a048b0a65f8', {}, {}),
  instruction('claimProtocolFee2', 'ebc23645410aec70', { maxAmount: u64 }, {}),
  instruction('claimProtocolPoolCreationFee', '72cd53bcf0991936', {}, {}),
  instruction('claimTradingFee', '08ec5931987db151', { maxAmountA: u64, maxAmountB: u64 }, {}),
  instruction(
    'claimTradingFee2',
    '54bf473209a237c1',
    { maxAmountA: u64, maxAmountB: u64, transferHookAccountsInfo },
    {}
  ),
  instruction('closeClaimProtocolFeeOperator', '082957235030791a', {}, {}),
  instruction('closeOperatorAccount', 'ab09d54a7817031d', {}, {}),
  instruction('closeTokenBadge', '6c92566eb3fe0a68', {}, {}),
  instruction('createConfig', 'c9cff3724b6f2fbd', {}, {}),
  instruction('createConfigWithTransferHook', 'd825013958e21929', {}, {}),
  instruction('createLocker', 'a75a899a4b2f1154', {}, {}),
  instruction('createOperatorAccount', 'dd40f695f099e5a3', { permission: u128 }, {}),
  instruction('createPartnerMetadata', 'c0a8eabfbce2e3ff', {}, {}),
  instruction('createTokenBadge', '58ce005b3caf9776', {}, {}),
  instruction('createVirtualPoolMetadata', '2d61bb67fe6d7c86', {}, {}),
  instruction('creatorWithdrawSurplus', 'a50389071c864c50', {}, {}),
  instruction('migrateMeteoraDammClaimLpToken', '8b85021e5b917f9a', {}, {}),
  instruction('migrateMeteoraDammLockLpToken', 'b137ee9dfb58a52a', {}, {}),
  instruction('migrationDammV2CreateMetadata', '6dbd1324c3b7de52', {}, {}),
  instruction('migrationMeteoraDammCreateMetadata', '2f5e7e73dde2c285', {}, {}),
  instruction('partnerWithdrawSurplus', 'a8ad4864c962265c', {}, {}),
  instruction('transferPoolCreator', '1407a9213a93a621', {}, {}),
  instruction('withdrawLeftover', '14c6caedebf3b742', {}, {}),
  instruction('withdrawMigrationFee', 'ed8e2d178106dea2', { flag: u8 }, {}),
  // Removed from the program.
  instruction('claimProtocolFee', 'a5e4853063f9ff21', {}, {}),
  instruction('closeClaimFeeOperator', '268652d85f7c1163', {}, {}),
  instruction('createClaimFeeOperator', 'a93ecf6b3abba26d', {}, {}),
  instruction('protocolWithdrawSurplus', '3688e18aacb6d6a7', {}, {}),
  instruction('withdrawLamportsFromPoolAuthority', '14b9f2f08118d4c2', {}, {}),
  instruction('zapProtocolFee', 'd59bbb2238b65bf0', { maxAmount: u64 }, {})
]

export const METEORA_DBC_INSTRUCTIONS = new LayoutTable([
  swap,
  swap2,
  swap2WithTransferHook,
  ...LAUNCHES,
  migrateMeteoraDamm,
  migrationDammV2,
  ...OTHERS
])

const SWAPPED = { pool: pubkey, config: pubkey, tradeDirection: u8, hasReferral: bool }
const SWAPPED_2 = {
  ...SWAPPED,
  swapParameters: struct(SWAP_2),
  swapResult: struct({
    includedFeeInputAmount: u64,
    excludedFeeInputAmount: u64,
    amountLeft: u64,
    outputAmount: u64,
    nextSqrtPrice: u128,
    tradingFee: u64,
    protocolFee: u64,
    referralFee: u64
  }),
  quoteReserveAmount: u64,
  migrationThreshold: u64,
  currentTimestamp: u64
}

/** Before 0.1.6 the only event of a swap; since then emitted together with EvtSwap2. */
export const swapEvent = layout('EvtSwap', '1b3c15d58aaabb93', {
  ...SWAPPED,
  params: struct({ amountIn: u64, minimumAmountOut: u64 }),
  swapResult: struct({
    actualInputAmount: u64,
    outputAmount: u64,
    nextSqrtPrice: u128,
    tradingFee: u64,
    protocolFee: u64,
    referralFee: u64
  }),
  amountIn: u64,
  currentTimestamp: u64
})
export const SWAP_2_EVENTS = [
  layout('EvtSwap2', 'bd4233a826507599', SWAPPED_2),
  layout('EvtSwap2WithTransferHook', '863ba8785e3372e7', SWAPPED_2)
] as const

const COMPLETED = { pool: pubkey, config: pubkey, baseReserve: u64, quoteReserve: u64 }
export const COMPLETE_EVENTS = [
  layout('EvtCurveComplete', 'e5e756549c864b18', COMPLETED),
  layout('EvtCurveCompleteWithTransferHook', '3b2f6dcd0d1f2c9f', COMPLETED)
] as const

const INITIALIZED = {
  pool: pubkey,
  config: pubkey,
  creator: pubkey,
  baseMint: pubkey,
  poolType: u8,
  activationPoint: u64
}
export const LAUNCH_EVENTS = [
  layout('EvtInitializePool', 'e432f655cb428625', INITIALIZED),
  layout('EvtInitializePoolWithTransferHook', 'd589a435c14a0f6e', INITIALIZED)
] as const

const OTHER_EVENTS = [
  layout('EvtClaimCreatorTradingFee', '9ae4d7ca859bd68a', {
    pool: pubkey,
    tokenBaseAmount: u64,
    tokenQuoteAmount: u64
  }),
  layout('EvtClaimPoolCreationFee', '956f952c8840af3e', { pool: pubkey, receiver: pubkey, creationFee: u64 }),
  layout('EvtClaimProtocolFee2', 'bb854209cda1540d', {
    pool: pubkey,
    receiverTokenAccount: pubkey,
    tokenMint: pubkey,
    amount: u64
  }),
  layout('EvtClaimTradingFee', '1a5375f05cca70fe', {
    pool: pubkey,
    tokenBaseAmount: u64,
    tokenQuoteAmount: u64
  }),
  layout('EvtCloseClaimFeeOperator', '6f2725376ed8c217', { claimFeeOperator: pubkey, operator: pubkey }),
  layout('EvtCloseTokenBadge', '3cd92252b70a59bc', { tokenMint: pubkey }),
  layout('EvtCreateClaimFeeOperator', '1506997844741cb1', { operator: pubkey }),
  layout('EvtCreateConfig', '83cfb4aeb449a536', { config: pubkey, quoteMint: pubkey, feeClaimer: pubkey }),
  layout('EvtCreateConfigV2', 'a34a42bb77c31a90', { config: pubkey, quoteMint: pubkey, feeClaimer: pubkey }),
  layout('EvtCreateConfigV2WithTransferHook', 'b6518704272e84fd', {
    config: pubkey,
    quoteMint: pubkey,
    feeClaimer: pubkey
  }),
  layout('EvtCreateMeteoraMigrationMetadata', '63a7853fd68faf8b', { virtualPool: pubkey }),
  layout('EvtCreateTokenBadge', '8d788674221c72a0', { tokenMint: pubkey }),
  layout('EvtCreatorWithdrawSurplus', '9849150f4257359d', { pool: pubkey, surplusAmount: u64 }),
  layout('EvtPartnerClaimPoolCreationFee', 'aedf2c96916259c3', {
    pool: pubkey,
    partner: pubkey,
    creationFee: u64,
    feeReceiver: pubkey
  }),
  layout('EvtPartnerMetadata', 'c87f06370d200896', { partnerMetadata: pubkey, feeClaimer: pubkey }),
  layout('EvtPartnerWithdrawSurplus', 'c3389809e8482316', { pool: pubkey, surplusAmount: u64 }),
  layout('EvtUpdatePoolCreator', '6be1a5ed5b9ed5dc', { pool: pubkey, creator: pubkey, newCreator: pubkey }),
  layout('EvtVirtualPoolMetadata', 'bc12484cc35b264a', { virtualPoolMetadata: pubkey, virtualPool: pubkey }),
  layout('EvtWithdrawLeftover', 'bfbd688f6f9c5ee5', {
    pool: pubkey,
    leftoverReceiver: pubkey,
    leftoverAmount: u64
  }),
  layout('EvtWithdrawMigrationFee', '1acb5455a11764d6', { pool: pubkey, fee: u64, flag: u8 }),
  // Removed from the program.
  layout('EvtClaimProtocolFee', 'baf44bfbbc0d1921', {
    pool: pubkey,
    tokenBaseAmount: u64,
    tokenQuoteAmount: u64
  }),
  layout('EvtCreateDammV2MigrationMetadata', '676f84a88cfd9672', { virtualPool: pubkey }),
  layout('EvtPartnerWithdrawMigrationFee', 'b5697f4308bb7839', { pool: pubkey, fee: u64 }),
  layout('EvtProtocolWithdrawSurplus', '6d6f1cdd86c3e6cb', { pool: pubkey, surplusAmount: u64 })
]

export const METEORA_DBC_EVENTS = new LayoutTable<Layout<unknown>>([
  swapEvent,
  ...SWAP_2_EVENTS,
  ...COMPLETE_EVENTS,
  ...LAUNCH_EVENTS,
  ...OTHER_EVENTS
])
