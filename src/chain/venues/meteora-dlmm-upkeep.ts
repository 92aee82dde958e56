import { bool, i32, i64, pubkey, u128, u16, u32, u64, u8, vec } from '../codec.ts'
import { instruction } from '../layout.ts'
import { remainingAccountsInfo, placeLimitOrderParams } from './meteora-dlmm-structs.ts'

// Source: IDL 0.12.0 of @meteora-ag/dlmm 1.9.14; older forms from the IDLs 0.5.0, 0.8.6 and 0.9.1 of its releases.

/** Instructions that neither trade nor move liquidity; a limit order is not a trade. */
export const DLMM_UPKEEP = [
  instruction('cancelLimitOrder', '849c841f4328e861', { bins: vec(i32), remainingAccountsInfo }, {}),
  instruction('claimFee', 'a9204f8988e84689', {}, {}),
  instruction('claimFee2', '70bf65ab1c907fbb', { minBinId: i32, maxBinId: i32, remainingAccountsInfo }, {}),
  instruction('claimReward', '955fb5f25e5a9ea2', { rewardIndex: u64 }, {}),
  instruction(
    'claimReward2',
    'be037f77b2579db7',
    { rewardIndex: u64, minBinId: i32, maxBinId: i32, remainingAccountsInfo },
    {}
  ),
  instruction('closeBinArray', '44ae5850b5cc13e0', {}, {}),
  instruction('closeClaimFeeOperatorAccount', 'b8d5581fb3658224', {}, {}),
  instruction('closeLimitOrderIfEmpty', '397c249b7ef95dab', {}, {}),
  instruction('closeOperatorAccount', 'ab09d54a7817031d', {}, {}),
  instruction('closePosition', '7b86510031446262', {}, {}),
  instruction('closePosition2', 'ae5a2373ba2893e2', {}, {}),
  instruction('closePositionIfEmpty', '3b7cd4765b986e9d', {}, {}),
  instruction('closePresetParameter', '04949164861ab53d', {}, {}),
  instruction('closePresetParameter2', '27195f6b7411731c', {}, {}),
  instruction('closeTokenBadge', '6c92566eb3fe0a68', {}, {}),
  instruction('createOperatorAccount', 'dd40f695f099e5a3', { permission: u128 }, {}),
  instruction('decreasePositionLength', 'c2db882019606925', { lengthToRemove: u16, side: u8 }, {}),
  instruction(
    'fundReward',
    'bc32f9a55d97263f',
    { rewardIndex: u64, amount: u64, carryForward: bool },
    {},
    { remainingAccountsInfo }
  ),
  instruction('goToABin', '9248aee028fd54ae', { binId: i32 }, {}),
  instruction('increaseOracleLength', 'be3d7d57674f9ead', { lengthToAdd: u64 }, {}),
  instruction('increasePositionLength', '505375d3420d2195', { lengthToAdd: u16, side: u8 }, {}),
  instruction('increasePositionLength2', 'ffd2cc477389e171', { minimumUpperBinId: i32 }, {}),
  instruction('initializeBinArray', '235613b94ed44bd3', { index: i64 }, {}),
  instruction('initializeBinArrayBitmapExtension', '2f9de2b40cf02147', {}, {}),
  instruction('initializePosition', 'dbc0ea47bebf6650', { lowerBinId: i32, width: i32 }, {}),
  instruction('initializePosition2', '8f13f291d50f6873', { lowerBinId: i32, width: i32 }, {}),
  instruction(
    'initializePositionByOperator',
    'fbbdbef475fe2394',
    { lowerBinId: i32, width: i32, feeOwner: pubkey, lockReleasePoint: u64 },
    {}
  ),
  instruction('initializePositionPda', '2e527d92558de499', { lowerBinId: i32, width: i32 }, {}),
  instruction('initializePresetParameter', '42bc47d3626d0eba', {}, {}),
  instruction(
    'initializeReward',
    '5f87c0c4f281e644',
    { rewardIndex: u64, rewardDuration: u64, funder: pubkey },
    {}
  ),
  instruction('initializeTokenBadge', 'fd4dcd5f1be059df', {}, {}),
  instruction(
    'placeLimitOrder',
    '6cb021ba92e501c5',
    { params: placeLimitOrderParams, remainingAccountsInfo },
    {}
  ),
  instruction('setActivationPoint', '5bf90fa51a81fe7d', { activationPoint: u64 }, {}),
  instruction('setPairStatus', '43f8e7899a95d9ae', { status: u8 }, {}),
  instruction('setPairStatusPermissionless', '4e3b98d346b72ed0', { status: u8 }, {}),
  instruction('setPermissionlessOperationBits', '543acb8ba351beba', { bits: u8 }, {}),
  instruction('setPreActivationDuration', 'a53dc9f4829f1664', { preActivationDuration: u64 }, {}),
  instruction('setPreActivationSwapAddress', '398b2f7bd850df0a', { preActivationSwapAddress: pubkey }, {}),
  instruction('updateFeesAndReward2', '208eb89a6741b858', { minBinId: i32, maxBinId: i32 }, {}),
  instruction('updateFeesAndRewards', '9ae6fa0decd14bdf', {}, {}),
  instruction('updatePositionOperator', 'cab8678fb4bf74d9', { operator: pubkey }, {}),
  instruction('updateRewardDuration', '8aaec4a9d5ebfe6b', { rewardIndex: u64, newDuration: u64 }, {}),
  instruction('updateRewardFunder', 'd31c3020d7a02317', { rewardIndex: u64, newFunder: pubkey }, {}),
  instruction(
    'withdrawIneligibleReward',
    '94ce2ac3f7316708',
    { rewardIndex: u64 },
    {},
    { remainingAccountsInfo }
  ),
  instruction(
    'withdrawProtocolFee',
    '9ec99ebd215da267',
    { maxAmountX: u64, maxAmountY: u64 },
    {},
    { remainingAccountsInfo }
  ),
  instruction('zapProtocolFee', 'd59bbb2238b65bf0', { maxAmount: u64, remainingAccountsInfo }, {}),
  instruction(
    'updateBaseFeeParameters',
    '4ba8dfa110c3032f',
    { protocolShare: u16, baseFactor: u16 },
    {},
    { baseFeePowerFactor: u8 }
  ),
  instruction(
    'updateDynamicFeeParameters',
    '5ca12ef6ffbd1616',
    {
      filterPeriod: u16,
      decayPeriod: u16,
      reductionFactor: u16,
      variableFeeControl: u32,
      maxVolatilityAccumulator: u32
    },
    {}
  ),
  instruction('forIdlTypeGenerationDoNotCall', 'b46945505f32496c', {}, {}),
  // Removed from the program.
  instruction('closeClaimProtocolFeeOperator', '082957235030791a', {}, {}),
  instruction('createClaimProtocolFeeOperator', '331396fc699d305b', {}, {}),
  instruction('initializePresetParameter2', 'b807f0ab672fb779', {}, {}),
  instruction('migrateBinArray', '11179fd365b829f1', {}, {}),
  instruction('migratePosition', '0f843b32c706fb2e', {}, {}),
  instruction('setActivationSlot', 'c8e35a531b4fbf58', {}, {}),
  instruction('setLockReleasePoint', '9447381437da9885', {}, {}),
  instruction('setMaxSwappedAmount', 'b54cdb4b10e8d4d5', {}, {}),
  instruction('togglePairStatus', '3d7334172e0d1f90', {}, {}),
  instruction('updateFeeOwner', '3c3f11400dc4a6f3', {}, {}),
  instruction('updateFeeParameters', '8080d05bf6351fb0', {}, {}),
  instruction('updateWhitelistedWallet', '04695ca7841c095a', {}, {})
]
