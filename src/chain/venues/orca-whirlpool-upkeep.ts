import { bool, i32, option, pubkey, u128, u16, u32, u8, type Fields } from '../codec.ts'
import { instruction } from '../layout.ts'
import { REMAINING } from './orca-whirlpool-structs.ts'

// Source: the program's published interface, version 0.9.0.

const ADAPTIVE_FEE = {
  filterPeriod: u16,
  decayPeriod: u16,
  reductionFactor: u16,
  adaptiveFeeControlFactor: u32,
  maxVolatilityAccumulator: u32,
  tickGroupSize: u16,
  majorSwapThresholdTicks: u16
}
const TICK_RANGE = { tickLowerIndex: i32, tickUpperIndex: i32 }
const NEW_TICK_RANGE = { newTickLowerIndex: i32, newTickUpperIndex: i32 }
const REWARD_EMISSIONS = { rewardIndex: u8, emissionsPerSecondX64: u128 }

const OTHERS: readonly (readonly [name: string, discriminator: string, args?: Fields])[] = [
  // Used once, in December 2022: it corrected the recorded liquidity of pools without moving tokens. No published
  // interface has it.
  ['adminIncreaseLiquidity', 'e581999d996a61a0', { liquidity: u128 }],
  ['closeBundledPosition', '2924d8f51b556743', { bundleIndex: u16 }],
  ['closePosition', '7b86510031446262'],
  ['closePositionWithTokenExtensions', '01b6873b9b1963df'],
  ['collectFees', 'a498cf631eba13b6'],
  ['collectFeesV2', 'cf755fbfe5b4e20f', { remainingAccountsInfo: REMAINING }],
  ['collectProtocolFees', '1643176296b246dc'],
  ['collectProtocolFeesV2', '6780de8672c816c8', { remainingAccountsInfo: REMAINING }],
  ['collectReward', '4605845756ebb122', { rewardIndex: u8 }],
  ['collectRewardV2', 'b16b25b4a01331d1', { rewardIndex: u8, remainingAccountsInfo: REMAINING }],
  ['deletePositionBundle', '64196302d9ef7cad'],
  ['deleteTokenBadge', '35924408127511b9'],
  ['idlInclude', 'dffd79793cc1811f'],
  [
    'initializeAdaptiveFeeTier',
    '4d63d0c88d7b7530',
    {
      feeTierIndex: u16,
      tickSpacing: u16,
      initializePoolAuthority: pubkey,
      delegatedFeeAuthority: pubkey,
      defaultBaseFeeRate: u16,
      ...ADAPTIVE_FEE
    }
  ],
  [
    'initializeConfig',
    'd07f1501c2bec446',
    {
      feeAuthority: pubkey,
      collectProtocolFeesAuthority: pubkey,
      rewardEmissionsSuperAuthority: pubkey,
      defaultProtocolFeeRate: u16
    }
  ],
  ['initializeConfigExtension', '370935097239d134'],
  ['initializeDynamicTickArray', '2921a5c878e78e32', { startTickIndex: i32, idempotent: bool }],
  ['initializeFeeTier', 'b74a9ca070022a1e', { tickSpacing: u16, defaultFeeRate: u16 }],
  ['initializePositionBundle', '752df1951812c241'],
  ['initializePositionBundleWithMetadata', '5d7c10b3f98373f5'],
  ['initializeReward', '5f87c0c4f281e644', { rewardIndex: u8 }],
  ['initializeRewardV2', '5b014d32ebe58531', { rewardIndex: u8 }],
  ['initializeTickArray', '0bbcc1d68d5b95b8', { startTickIndex: i32 }],
  ['initializeTokenBadge', 'fd4dcd5f1be059df'],
  ['lockPosition', 'e33e02fcf70aabb9', { lockType: u8 }],
  ['migrateRepurposeRewardAuthoritySpace', 'd6a1f84f9862ace7'],
  ['openBundledPosition', 'a9717eabd5acd431', { bundleIndex: u16, ...TICK_RANGE }],
  ['openPosition', '87802f4d0f98f031', { positionBump: u8, ...TICK_RANGE }],
  ['openPositionWithMetadata', 'f21d86303a6e0e3c', { positionBump: u8, metadataBump: u8, ...TICK_RANGE }],
  [
    'openPositionWithTokenExtensions',
    'd42f5f5c726683fa',
    { ...TICK_RANGE, withTokenMetadataExtension: bool }
  ],
  ['resetPositionRange', 'a47bb48dc264a0af', NEW_TICK_RANGE],
  [
    'setAdaptiveFeeConstants',
    '859ed4bded0c4927',
    Object.fromEntries(Object.entries(ADAPTIVE_FEE).map(([name, codec]) => [name, option<unknown>(codec)]))
  ],
  ['setCollectProtocolFeesAuthority', '22965df48be1e943'],
  ['setConfigExtensionAuthority', '2c5ef17418bc3c8f'],
  ['setConfigFeatureFlag', '47ade41243f7d239', { featureFlag: u8, enabled: bool }],
  ['setDefaultBaseFeeRate', 'e54254fba486b707', { defaultBaseFeeRate: u16 }],
  ['setDefaultFeeRate', '76d7d69db6e5d0e4', { defaultFeeRate: u16 }],
  ['setDefaultProtocolFeeRate', '6bcdf9e297235600', { defaultProtocolFeeRate: u16 }],
  ['setDelegatedFeeAuthority', 'c1eae7938a39037a'],
  ['setFeeAuthority', '1f013257ed656184'],
  ['setFeeRate', '35f38941088c9e06', { feeRate: u16 }],
  ['setFeeRateByDelegatedFeeAuthority', '7979367283e6a268', { feeRate: u16 }],
  ['setInitializePoolAuthority', '7d2b7feb951a6aec'],
  ['setPresetAdaptiveFeeConstants', '84b94294535886c6', ADAPTIVE_FEE],
  ['setProtocolFeeRate', '5f0704329a4f9c83', { protocolFeeRate: u16 }],
  ['setRewardAuthority', '2227b7fc531c557f', { rewardIndex: u8 }],
  ['setRewardAuthorityBySuperAuthority', 'f09ac9c6945d3819', { rewardIndex: u8 }],
  ['setRewardEmissions', '0dc556a86db01bf4', REWARD_EMISSIONS],
  ['setRewardEmissionsSuperAuthority', 'cf05c8d17a3852b7'],
  ['setRewardEmissionsV2', '72e44820c130a066', REWARD_EMISSIONS],
  ['setTokenBadgeAttribute', 'e05841218a93f689', { attribute: u8, required: bool }],
  ['setTokenBadgeAuthority', 'cfca0420cd4f0db2'],
  ['transferLockedPosition', 'b379e52e438ac28a'],
  ['updateFeesAndRewards', '9ae6fa0decd14bdf']
]

/** Instructions that neither trade nor move liquidity. */
export const WHIRLPOOL_UPKEEP = OTHERS.map(([name, discriminator, args]) =>
  instruction(name, discriminator, args ?? {}, {})
)
