import { array, bool, i32, option, struct, u16, u32, u64, u8, vec, type Codec } from '../codec.ts'

// Parameter structs of meteora-dlmm. Source: IDL 0.12.0 of @meteora-ag/dlmm 1.9.14.

/** Unused bytes at the end of the parameters; their number changed between versions. */
export const unused: Codec<Uint8Array> = {
  type: 'rest',
  read: (reader) => reader.bytes(reader.left),
  write: (writer, value) => writer.bytes(value)
}

/** An account type. Kind 3 is followed by the index of a reward, other kinds by nothing. */
const accountsType: Codec<{ readonly kind: number; readonly index: number | null }> = {
  type: 'accountsType',
  read(reader) {
    const kind = reader.u8()
    return { kind, index: kind === 3 ? reader.u8() : null }
  },
  write(writer, { kind, index }) {
    writer.uint(BigInt(kind), 1)
    if (kind === 3) writer.uint(BigInt(index ?? 0), 1)
  }
}

export const remainingAccountsInfo = struct({ slices: vec(struct({ accountsType, length: u8 })) })

const binLiquidityDistribution = struct({ binId: i32, distributionX: u16, distributionY: u16 })
export const liquidityParameter = struct({
  amountX: u64,
  amountY: u64,
  binLiquidityDist: vec(binLiquidityDistribution)
})
const strategyParameters = struct({
  minBinId: i32,
  maxBinId: i32,
  strategyType: u8,
  parameters: array(u8, 64)
})
export const liquidityParameterByStrategy = struct({
  amountX: u64,
  amountY: u64,
  activeId: i32,
  maxActiveBinSlippage: i32,
  strategyParameters
})
export const liquidityParameterByStrategyOneSide = struct({
  amount: u64,
  activeId: i32,
  maxActiveBinSlippage: i32,
  strategyParameters
})
const binLiquidityDistributionByWeight = struct({ binId: i32, weight: u16 })
export const liquidityParameterByWeight = struct({
  amountX: u64,
  amountY: u64,
  activeId: i32,
  maxActiveBinSlippage: i32,
  binLiquidityDist: vec(binLiquidityDistributionByWeight)
})
export const liquidityOneSideParameter = struct({
  amount: u64,
  activeId: i32,
  maxActiveBinSlippage: i32,
  binLiquidityDist: vec(binLiquidityDistributionByWeight)
})
const compressedBinDepositAmount = struct({ binId: i32, amount: u32 })
export const addLiquiditySingleSidePreciseParameter = struct({
  bins: vec(compressedBinDepositAmount),
  decompressMultiplier: u64
})
export const addLiquiditySingleSidePreciseParameter2 = struct({
  bins: vec(compressedBinDepositAmount),
  decompressMultiplier: u64,
  maxAmount: u64
})
export const binLiquidityReduction = struct({ binId: i32, bpsToRemove: u16 })

const removeLiquidityParams = struct({
  minBinId: option(i32),
  maxBinId: option(i32),
  bps: u16,
  padding: array(u8, 16)
})
const addLiquidityParams = struct({
  minDeltaId: i32,
  maxDeltaId: i32,
  x0: u64,
  y0: u64,
  deltaX: u64,
  deltaY: u64,
  bitFlag: u8,
  favorXInActiveId: bool,
  padding: array(u8, 16)
})
/** Before 0.12.0 the shrink mode was part of the padding. */
export const rebalanceLiquidityParams = struct({
  activeId: i32,
  maxActiveBinSlippage: u16,
  shouldClaimFee: bool,
  shouldClaimReward: bool,
  minWithdrawXAmount: u64,
  maxDepositXAmount: u64,
  minWithdrawYAmount: u64,
  maxDepositYAmount: u64,
  shrinkMode: u8,
  padding: array(u8, 31),
  removes: vec(removeLiquidityParams),
  adds: vec(addLiquidityParams)
})

export const placeLimitOrderParams = struct({
  isAskSide: bool,
  padding: array(u8, 16),
  relativeBin: option(struct({ activeId: i32, maxActiveBinSlippage: i32 })),
  bins: vec(struct({ id: i32, amount: u64 }))
})

/** Before 0.12.0 function type and fee mode were part of the padding; before 0.9, the power factor too. */
export const customizableParams = struct({
  activeId: i32,
  binStep: u16,
  baseFactor: u16,
  activationType: u8,
  hasAlphaVault: bool,
  activationPoint: option(u64),
  creatorPoolOnOffControl: bool,
  baseFeePowerFactor: u8,
  concreteFunctionType: u8,
  collectFeeMode: u8,
  padding: unused
})
