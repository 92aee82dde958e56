import { array, bool, i16, i32, pubkey, u128, u16, u32, u64, u8, vec } from '../codec.ts'
import { LayoutTable, layout, type Layout } from '../layout.ts'
import { placeLimitOrderParams } from './meteora-dlmm-structs.ts'

// Source: IDL 0.12.0 of @meteora-ag/dlmm 1.9.14. Since 0.12.0 a swap states both Swap and Swap2Evt.

export const swapEvent = layout('Swap', '516ce3becdd00ac4', {
  lbPair: pubkey,
  from: pubkey,
  startBinId: i32,
  endBinId: i32,
  amountIn: u64,
  amountOut: u64,
  swapForY: bool,
  fee: u64,
  protocolFee: u64,
  feeBps: u128,
  hostFee: u64
})
export const swap2Event = layout('Swap2Evt', '2e7452d7941b544d', {
  lbPair: pubkey,
  from: pubkey,
  startBinId: i32,
  endBinId: i32,
  swapForY: bool,
  feeBps: u128,
  amountIn: u64,
  amountLeft: u64,
  amountOut: u64,
  mmFee: u64,
  protocolFee: u64,
  limitOrderFee: u64,
  hostFee: u64,
  feesOnInput: bool,
  feesOnTokenX: bool
})
export const addLiquidityEvent = layout('AddLiquidity', '1f5e7d5ae3343dba', {
  lbPair: pubkey,
  from: pubkey,
  position: pubkey,
  amounts: array(u64, 2),
  activeBinId: i32
})
export const removeLiquidityEvent = layout('RemoveLiquidity', '74f461e8671f983a', {
  lbPair: pubkey,
  from: pubkey,
  position: pubkey,
  amounts: array(u64, 2),
  activeBinId: i32
})
export const lbPairCreateEvent = layout('LbPairCreate', 'b94afc7d1bd7bc6f', {
  lbPair: pubkey,
  binStep: u16,
  tokenX: pubkey,
  tokenY: pubkey
})

type LayoutValue<L> = L extends Layout<infer T> ? T : never

const REBALANCED = {
  xWithdrawnAmount: u64,
  xAddedAmount: u64,
  yWithdrawnAmount: u64,
  yAddedAmount: u64,
  xFeeAmount: u64,
  yFeeAmount: u64,
  oldMinId: i32,
  oldMaxId: i32,
  newMinId: i32,
  newMaxId: i32,
  rewards: array(u64, 2)
}
const rebalancing = layout('Rebalancing', '006d75b33d5bc7c8', {
  lbPair: pubkey,
  position: pubkey,
  owner: pubkey,
  activeBinId: i32,
  ...REBALANCED
})
const rebalancingBefore012 = layout('Rebalancing', '006d75b33d5bc7c8', {
  lbPair: pubkey,
  position: pubkey,
  ...REBALANCED
})

type Rebalanced = LayoutValue<typeof rebalancingBefore012> & Partial<LayoutValue<typeof rebalancing>>

/** Version 0.12.0 inserted owner and active bin in the middle; only the size distinguishes the versions. */
export const rebalancingEvent: Layout<Rebalanced> = {
  ...rebalancing,
  read(bytes, offset) {
    return (bytes.length - offset < 180 ? rebalancingBefore012 : rebalancing).read(bytes, offset)
  },
  write({ owner, activeBinId, ...value }) {
    if (owner === undefined || activeBinId === undefined) return rebalancingBefore012.write(value)
    return rebalancing.write({ owner, activeBinId, ...value })
  }
}

const OTHERS = [
  layout('CancelLimitOrderEvt', '83eac285090ebdd1', {
    lbPair: pubkey,
    from: pubkey,
    limitOrder: pubkey,
    amounts: array(u64, 2),
    activeId: i32,
    bins: vec(i32)
  }),
  layout('ClaimFee', '4b7a9a308c4a7ba3', {
    lbPair: pubkey,
    position: pubkey,
    owner: pubkey,
    feeX: u64,
    feeY: u64
  }),
  layout('ClaimFee2', 'e8abf2613a4d232d', {
    lbPair: pubkey,
    position: pubkey,
    owner: pubkey,
    feeX: u64,
    feeY: u64,
    activeBinId: i32
  }),
  layout('ClaimReward', '947486cc16ab555f', {
    lbPair: pubkey,
    position: pubkey,
    owner: pubkey,
    rewardIndex: u64,
    totalReward: u64
  }),
  layout('ClaimReward2', '1b8ff421502b6e92', {
    lbPair: pubkey,
    position: pubkey,
    owner: pubkey,
    rewardIndex: u64,
    totalReward: u64,
    activeBinId: i32
  }),
  layout('CloseLimitOrderEvt', '8e87084c5c3f7653', { lbPair: pubkey, owner: pubkey, limitOrder: pubkey }),
  layout('CompositionFee', '80977b6a1166718e', {
    from: pubkey,
    binId: i16,
    tokenXFeeAmount: u64,
    tokenYFeeAmount: u64,
    protocolTokenXFeeAmount: u64,
    protocolTokenYFeeAmount: u64
  }),
  layout('DecreasePositionLength', '3476eb55aca90f80', {
    lbPair: pubkey,
    position: pubkey,
    owner: pubkey,
    lengthToRemove: u16,
    side: u8
  }),
  layout('DynamicFeeParameterUpdate', '5858b287c2925bf3', {
    lbPair: pubkey,
    filterPeriod: u16,
    decayPeriod: u16,
    reductionFactor: u16,
    variableFeeControl: u32,
    maxVolatilityAccumulator: u32
  }),
  layout(
    'FeeParameterUpdate',
    '304cf17590d7f22c',
    { lbPair: pubkey, protocolShare: u16, baseFactor: u16 },
    { baseFeePowerFactor: u8 }
  ),
  layout('FundReward', 'f6e43a8291aa4fcc', { lbPair: pubkey, funder: pubkey, rewardIndex: u64, amount: u64 }),
  layout('GoToABin', '3b8a4c448a83b043', { lbPair: pubkey, fromBinId: i32, toBinId: i32 }),
  layout('IncreaseObservation', '63f91179a69ccfd7', { oracle: pubkey, newObservationLength: u64 }),
  layout('IncreasePositionLength', '9def2acc1e38df2e', {
    lbPair: pubkey,
    position: pubkey,
    owner: pubkey,
    lengthToAdd: u16,
    side: u8
  }),
  layout('InitializeReward', 'd399583e953cb146', {
    lbPair: pubkey,
    rewardMint: pubkey,
    funder: pubkey,
    rewardIndex: u64,
    rewardDuration: u64
  }),
  layout('PlaceLimitOrderEvt', '2b4f1ba9f41ce13f', {
    lbPair: pubkey,
    sender: pubkey,
    owner: pubkey,
    limitOrder: pubkey,
    activeId: i32,
    params: placeLimitOrderParams
  }),
  layout('PositionClose', 'ffc4106b1cca3580', { position: pubkey, owner: pubkey }),
  layout('PositionCreate', '908efc549d352579', { lbPair: pubkey, position: pubkey, owner: pubkey }),
  layout('SetPositionPermissionlessOperationBitsEvt', 'c3e593f51d7d30a8', {
    position: pubkey,
    owner: pubkey,
    oldBits: u8,
    newBits: u8
  }),
  layout('UpdatePositionLockReleasePoint', '85d642e0400c07bf', {
    position: pubkey,
    currentPoint: u64,
    newLockReleasePoint: u64,
    oldLockReleasePoint: u64,
    sender: pubkey
  }),
  layout('UpdatePositionOperator', '277330ccf62f4239', {
    position: pubkey,
    oldOperator: pubkey,
    newOperator: pubkey
  }),
  layout('UpdateRewardDuration', 'dff5e099311da3ac', {
    lbPair: pubkey,
    rewardIndex: u64,
    oldRewardDuration: u64,
    newRewardDuration: u64
  }),
  layout('UpdateRewardFunder', 'e0b2ae4afca555b4', {
    lbPair: pubkey,
    rewardIndex: u64,
    oldFunder: pubkey,
    newFunder: pubkey
  }),
  layout('WithdrawIneligibleReward', 'e7bd419566d79af4', { lbPair: pubkey, rewardMint: pubkey, amount: u64 })
]

export const METEORA_DLMM_EVENTS = new LayoutTable<Layout<unknown>>([
  swapEvent,
  swap2Event,
  addLiquidityEvent,
  removeLiquidityEvent,
  lbPairCreateEvent,
  rebalancingEvent,
  ...OTHERS
])
