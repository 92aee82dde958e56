import { pubkey } from '../../../chain/codec.ts'
import { layout } from '../../../chain/layout.ts'
import { samePubkey, type Pubkey } from '../../../chain/pubkey.ts'
import {
  initializePoolEvent,
  liquidityChangeEvent,
  swap2Event
} from '../../../chain/venues/meteora-damm-v2-events.ts'
import { CREATES, REMOVES, addLiquidity, swap2 } from '../../../chain/venues/meteora-damm-v2-instructions.ts'
import { liquidityOf, liquidityWorth, priceOf, sqrtPriceOf, stepOf } from '../curves/concentrated.ts'
import { ceilDiv } from '../curves/integers.ts'
import { SYSTEM, TOKEN_2022 } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { Executed, NewPool, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import {
  PoolTransfers,
  U64_MAX,
  canMove,
  key,
  newAddress,
  newSides,
  otherSide,
  sideIn,
  startAmounts,
  timeOf,
  tokenPrograms,
  userAccounts,
  vaultBalances,
  withSide,
  type Caller,
  type Pair,
  type PoolSides,
  type Side
} from './pool-sides.ts'
import {
  POSITION_LIMIT,
  liquidityChange,
  mintPositionNft,
  newPosition,
  positionOf,
  type Position
} from './positions.ts'
import { stateEvent } from './self-event.ts'

// Source: MeteoraAg/damm-v2, program source; IDL 0.2.5 of @meteora-ag/cp-amm-sdk 1.5.0. Token A is the token that is traded.

const PROGRAM = key('cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG')
const AUTHORITY = key('HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC')
const EVENT_AUTHORITY = key('3rmHSu74h1ZcmAisVcWerTCiRDQbUrBKmcwptYGjHfet')

/** The whole range of prices that the program allows; liquidity is in Q64.64 beside them. */
const RANGE = { lower: 4295048016n, upper: 79226673521066979257578248091n }
const BITS = 64n
/** In units of 1e-9, and of that the protocol's part in hundredths. */
const FEE = 2_500_000n
const BILLION = 1_000_000_000n
const PROTOCOL_SHARE = 20n

/** Fees are taken of whatever comes out, or always of the second token. */
const COLLECT_BOTH = 0
const COLLECT_ONLY_B = 1

const createPosition = layout('createPosition', '30d7c59960cbb485', {})
const createPositionEvent = layout('EvtCreatePosition', '9c0f77c61db5dd37', {
  pool: pubkey,
  owner: pubkey,
  position: pubkey,
  positionNftMint: pubkey
})

export interface DammV2Pool extends PoolSides {
  readonly address: Pubkey
  readonly creator: Pubkey
  readonly collectFeeMode: number
  readonly activationPoint: bigint
  sqrtPrice: bigint
  liquidity: bigint
  /** What the vaults hold without fees that nobody has claimed yet. */
  reserves: Pair
  protocolFees: Pair
  lpFees: Pair
  positions: Position[]
}

export const meteoraDammV2Pools = {
  venue: 'meteora-damm-v2',
  open,
  swap,
  changeLiquidity,
  price: ({ sqrtPrice }: DammV2Pool): number => priceOf(sqrtPrice)
} satisfies PoolVenue<DammV2Pool>

function open(script: Caller, pool: NewPool, world: VenueWorld): DammV2Pool {
  const { ledger } = world
  const { creator } = pool
  const sides = newSides(pool, world, 'as-given')
  const offered = startAmounts(sides, pool)
  const sqrtPrice = sqrtPriceOf(offered)
  const liquidity = liquidityOf(offered, sqrtPrice, RANGE, BITS)
  const amounts = liquidityWorth(liquidity, sqrtPrice, RANGE, BITS, 'up')
  const position = newPosition(creator, world)
  position.liquidity = liquidity
  const opened: DammV2Pool = {
    ...sides,
    address: newAddress(world),
    creator,
    collectFeeMode: world.random.next() < 0.5 ? COLLECT_BOTH : COLLECT_ONLY_B,
    activationPoint: timeOf(script),
    sqrtPrice,
    liquidity,
    reserves: amounts,
    protocolFees: [0n, 0n],
    lpFees: [0n, 0n],
    positions: [position]
  }
  const { address, mints, vaults, collectFeeMode, activationPoint } = opened
  const users = userAccounts(opened, creator, ledger)
  const programs = tokenPrograms(opened, ledger)
  const poolFees = {
    cliffFeeNumerator: FEE,
    firstFactor: 0,
    secondFactor: 0n,
    thirdFactor: 0n,
    baseFeeMode: 0,
    compoundingFeeBps: 0,
    padding: 0,
    dynamicFee: null
  }
  const terms = {
    poolFees,
    sqrtMinPrice: RANGE.lower,
    sqrtMaxPrice: RANGE.upper,
    liquidity,
    sqrtPrice,
    activationType: 1,
    collectFeeMode
  }
  const accounts = [
    reads(creator),
    signs(position.nftMint),
    writes(position.nftAccount),
    signs(creator),
    reads(AUTHORITY),
    writes(address),
    writes(position.address),
    ...mints.map(reads),
    ...vaults.map(writes),
    ...users.map(writes),
    ...programs.map(reads),
    reads(TOKEN_2022),
    reads(SYSTEM),
    ...eventAccounts()
  ]
  const data = CREATES[2].write({ ...terms, hasAlphaVault: false, activationPoint: null })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: InitializeCustomizablePool')
    call.createTokenAccount(vaults[0], AUTHORITY, mints[0])
    call.createTokenAccount(vaults[1], AUTHORITY, mints[1])
    openPosition(call, opened, position)
    const transfers = new PoolTransfers(call, opened, ledger)
    transfers.payIn(0, creator, amounts[0])
    transfers.payIn(1, creator, amounts[1])
    const event = initializePoolEvent.write({
      pool: address,
      tokenAMint: mints[0],
      tokenBMint: mints[1],
      creator,
      payer: creator,
      alphaVault: SYSTEM,
      ...terms,
      activationPoint,
      tokenAFlag: tokenFlag(programs[0]),
      tokenBFlag: tokenFlag(programs[1]),
      tokenAAmount: amounts[0],
      tokenBAmount: amounts[1],
      totalAmountA: amounts[0],
      totalAmountB: amounts[1],
      poolType: 1
    })
    stateEvent(call, PROGRAM, EVENT_AUTHORITY, event)
    writeState(call, opened, ledger)
  })
  return opened
}

function swap(
  script: Caller,
  pool: DammV2Pool,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const quote = quoteOf(pool, from, amountIn)
  if (quote === null || vaultBalances(pool, ledger)[from] + amountIn > U64_MAX) return null
  const { amountOut, fee, feeSide, sqrtPrice } = quote
  const protocolFee = (fee * PROTOCOL_SHARE) / 100n
  const paidIn = feeSide === from ? amountIn - fee : amountIn
  const taken = feeSide === to ? amountOut + fee : amountOut
  pool.sqrtPrice = sqrtPrice
  pool.reserves = withSide(pool.reserves, from, pool.reserves[from] + paidIn)
  pool.reserves = withSide(pool.reserves, to, pool.reserves[to] - taken)
  pool.protocolFees = withSide(pool.protocolFees, feeSide, pool.protocolFees[feeSide] + protocolFee)
  pool.lpFees = withSide(pool.lpFees, feeSide, pool.lpFees[feeSide] + fee - protocolFee)
  const users = userAccounts(pool, trader, ledger)
  const accounts = [
    reads(AUTHORITY),
    writes(pool.address),
    writes(users[from]),
    writes(users[to]),
    ...pool.vaults.map(writes),
    ...pool.mints.map(reads),
    signs(trader),
    ...tokenPrograms(pool, ledger).map(reads),
    // No referral.
    reads(PROGRAM),
    ...eventAccounts()
  ]
  const params = { amount0: amountIn, amount1: 0n, swapMode: 0 }
  script.call(PROGRAM, accounts, swap2.write(params), (call) => {
    call.log('Instruction: Swap2')
    const transfers = new PoolTransfers(call, pool, ledger)
    transfers.payIn(from, trader, amountIn)
    transfers.payOut(to, trader, AUTHORITY, amountOut)
    const event = swap2Event.write({
      pool: pool.address,
      tradeDirection: from,
      collectFeeMode: pool.collectFeeMode,
      hasReferral: false,
      params,
      swapResult: {
        includedFeeInputAmount: amountIn,
        excludedFeeInputAmount: paidIn,
        amountLeft: 0n,
        outputAmount: amountOut,
        nextSqrtPrice: sqrtPrice,
        claimingFee: fee - protocolFee,
        protocolFee,
        compoundingFee: 0n,
        referralFee: 0n
      },
      includedTransferFeeAmountIn: amountIn,
      includedTransferFeeAmountOut: amountOut,
      excludedTransferFeeAmountOut: amountOut,
      currentTimestamp: timeOf(script),
      reserveAAmount: pool.reserves[0],
      reserveBAmount: pool.reserves[1]
    })
    stateEvent(call, PROGRAM, EVENT_AUTHORITY, event)
    writeState(call, pool, ledger)
  })
  return { amountIn, amountOut }
}

interface Quote {
  readonly amountOut: bigint
  readonly fee: bigint
  readonly feeSide: Side
  readonly sqrtPrice: bigint
}

function quoteOf(pool: DammV2Pool, from: Side, amountIn: bigint): Quote | null {
  const { liquidity, sqrtPrice, collectFeeMode } = pool
  const feeSide = collectFeeMode === COLLECT_ONLY_B ? 1 : otherSide(from)
  const feeIn = feeSide === from ? ceilDiv(amountIn * FEE, BILLION) : 0n
  const step = stepOf(amountIn - feeIn, from === 0, liquidity, sqrtPrice, RANGE, BITS)
  if (step === null) return null
  const fee = feeSide === from ? feeIn : ceilDiv(step.output * FEE, BILLION)
  const amountOut = feeSide === from ? step.output : step.output - fee
  return amountOut <= 0n ? null : { amountOut, fee, feeSide, sqrtPrice: step.sqrtPrice }
}

function changeLiquidity(
  script: Caller,
  pool: DammV2Pool,
  by: Pubkey,
  thousandths: number,
  world: VenueWorld
): void {
  const { ledger } = world
  const adds = thousandths > 0
  const known = positionOf(pool.positions, by)
  const delta = liquidityChange(thousandths, pool.liquidity, known)
  const amounts = liquidityWorth(delta, pool.sqrtPrice, RANGE, BITS, adds ? 'up' : 'down')
  if (!canMove(pool, ledger, by, adds, amounts)) return
  if (known === undefined && pool.positions.length >= POSITION_LIMIT) return
  const position = known ?? newPosition(by, world)
  if (known === undefined) {
    pool.positions.push(position)
    script.call(PROGRAM, newPositionAccounts(pool, position), createPosition.write({}), (call) => {
      call.log('Instruction: CreatePosition')
      openPosition(call, pool, position)
    })
  }
  const sign = adds ? 1n : -1n
  position.liquidity += sign * delta
  pool.liquidity += sign * delta
  pool.reserves = [pool.reserves[0] + sign * amounts[0], pool.reserves[1] + sign * amounts[1]]
  if (position.liquidity === 0n) pool.positions = pool.positions.filter((each) => each !== position)
  const shared = [
    writes(position.address),
    ...userAccounts(pool, by, ledger).map(writes),
    ...pool.vaults.map(writes),
    ...pool.mints.map(reads),
    reads(position.nftAccount),
    signs(by),
    ...tokenPrograms(pool, ledger).map(reads),
    ...eventAccounts()
  ]
  const accounts = [...(adds ? [] : [reads(AUTHORITY)]), writes(pool.address), ...shared]
  const thresholds = {
    tokenAAmountThreshold: adds ? amounts[0] : 0n,
    tokenBAmountThreshold: adds ? amounts[1] : 0n
  }
  const data = (adds ? addLiquidity : REMOVES[0]).write({ liquidityDelta: delta, ...thresholds })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log(`Instruction: ${adds ? 'AddLiquidity' : 'RemoveLiquidity'}`)
    const transfers = new PoolTransfers(call, pool, ledger)
    for (const side of [0, 1] as const) {
      if (adds) transfers.payIn(side, by, amounts[side])
      else transfers.payOut(side, by, AUTHORITY, amounts[side])
    }
    const event = liquidityChangeEvent.write({
      pool: pool.address,
      position: position.address,
      owner: by,
      tokenAAmount: amounts[0],
      tokenBAmount: amounts[1],
      transferFeeIncludedTokenAAmount: amounts[0],
      transferFeeIncludedTokenBAmount: amounts[1],
      reserveAAmount: pool.reserves[0],
      reserveBAmount: pool.reserves[1],
      liquidityDelta: delta,
      ...thresholds,
      changeType: adds ? 0 : 1
    })
    stateEvent(call, PROGRAM, EVENT_AUTHORITY, event)
    writeState(call, pool, ledger)
  })
}

function newPositionAccounts(pool: DammV2Pool, position: Position) {
  return [
    reads(position.owner),
    signs(position.nftMint),
    writes(position.nftAccount),
    writes(pool.address),
    writes(position.address),
    reads(AUTHORITY),
    signs(position.owner),
    reads(TOKEN_2022),
    reads(SYSTEM),
    ...eventAccounts()
  ]
}

function openPosition(call: CallScript, pool: DammV2Pool, position: Position): void {
  const { owner, address, nftMint } = position
  mintPositionNft(call, position, AUTHORITY)
  const event = createPositionEvent.write({
    pool: pool.address,
    owner,
    position: address,
    positionNftMint: nftMint
  })
  stateEvent(call, PROGRAM, EVENT_AUTHORITY, event)
  const state = new AccountBytes(408, 'aabc8fe47a40f7d0').key(8, pool.address).key(40, nftMint)
  call.write(address, state.bytes)
}

function eventAccounts() {
  return [reads(EVENT_AUTHORITY), reads(PROGRAM)]
}

function tokenFlag(program: Pubkey): number {
  return samePubkey(program, TOKEN_2022) ? 1 : 0
}

function writeState(call: CallScript, pool: DammV2Pool, ledger: LedgerView): void {
  const programs = tokenPrograms(pool, ledger)
  const state = new AccountBytes(1112, 'f19a6d0411b16dbc')
    .u64(8, FEE)
    .key(168, pool.mints[0])
    .key(200, pool.mints[1])
    .key(232, pool.vaults[0])
    .key(264, pool.vaults[1])
    .u128(360, pool.liquidity)
    .u64(392, pool.protocolFees[0])
    .u64(400, pool.protocolFees[1])
    .u128(424, RANGE.lower)
    .u128(440, RANGE.upper)
    .u128(456, pool.sqrtPrice)
    .u64(472, pool.activationPoint)
    .u8(482, tokenFlag(programs[0]))
    .u8(483, tokenFlag(programs[1]))
    .u8(484, pool.collectFeeMode)
    .key(648, pool.creator)
    .u64(680, pool.reserves[0])
    .u64(688, pool.reserves[1])
    .u8(696, 1)
  call.write(pool.address, state.bytes)
}
