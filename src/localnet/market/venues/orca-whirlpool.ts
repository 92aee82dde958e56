import { layout } from '../../../chain/layout.ts'
import { bool, i32 } from '../../../chain/codec.ts'
import type { Pubkey } from '../../../chain/pubkey.ts'
import {
  decreaseLiquidityV2,
  increaseLiquidityV2,
  initializePoolV2,
  liquidityDecreased,
  liquidityIncreased,
  poolInitialized,
  positionOpened,
  swapV2,
  traded
} from '../../../chain/venues/orca-whirlpool-layouts.ts'
import { liquidityOf, liquidityWorth, priceOf, sqrtPriceOf, swapWithFee } from '../curves/concentrated.ts'
import { fullRange, tickAtSqrtPrice } from '../curves/ticks.ts'
import { ASSOCIATED_TOKEN, MEMO, RENT_SYSVAR, SYSTEM, TOKEN_2022 } from '../../programs.ts'
import type { CallScript } from '../script.ts'
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
  tokenPrograms,
  userAccounts,
  vaultBalances,
  withSide,
  type Caller,
  type Pair,
  type PoolSides
} from './pool-sides.ts'
import {
  POSITION_LIMIT,
  liquidityChange,
  mintPositionNft,
  newPosition,
  positionOf,
  type Position
} from './positions.ts'

// Source: the program's published interface, version 0.9.0, restated as facts. All liquidity spans the whole range.

const PROGRAM = key('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc')
const CONFIG = key('2LecshUwdy9xi7meFgHtFJQNSKk4KdTrcpvaB56dP2NQ')
const METADATA_AUTHORITY = key('3axbTs2z5GBy6usVbNVoqEgZMng3vZvMnAoX29BFfwhr')

const TICK_SPACING = 64
const RANGE = fullRange(TICK_SPACING)
/** Of the input in millionths, and of that the protocol's part in ten-thousandths. */
const FEE = 3000
const PROTOCOL_SHARE = 1300n

const openPositionWithTokenExtensions = layout('openPositionWithTokenExtensions', 'd42f5f5c726683fa', {
  tickLowerIndex: i32,
  tickUpperIndex: i32,
  withTokenMetadataExtension: bool
})

export interface Whirlpool extends PoolSides {
  readonly address: Pubkey
  readonly oracle: Pubkey
  readonly feeTier: Pubkey
  /** Of the lowest, the current and the highest prices. */
  readonly tickArrays: readonly [Pubkey, Pubkey, Pubkey]
  sqrtPrice: bigint
  liquidity: bigint
  protocolFees: Pair
  /** Fees of the positions, which nobody has collected. */
  lpFees: Pair
  positions: Position[]
}

export const orcaWhirlpoolPools = {
  venue: 'orca-whirlpool',
  open,
  swap,
  changeLiquidity,
  price({ sqrtPrice, baseSide }: Whirlpool): number {
    const price = priceOf(sqrtPrice)
    return baseSide === 0 ? price : 1 / price
  }
} satisfies PoolVenue<Whirlpool>

function open(script: Caller, pool: NewPool, world: VenueWorld): Whirlpool {
  const { ledger } = world
  const sides = newSides(pool, world, 'sorted')
  const offered = startAmounts(sides, pool)
  const sqrtPrice = sqrtPriceOf(offered)
  const opened: Whirlpool = {
    ...sides,
    address: newAddress(world),
    oracle: newAddress(world),
    feeTier: newAddress(world),
    tickArrays: [newAddress(world), newAddress(world), newAddress(world)],
    sqrtPrice,
    liquidity: 0n,
    protocolFees: [0n, 0n],
    lpFees: [0n, 0n],
    positions: []
  }
  const { address, mints, vaults } = opened
  const [programA, programB] = tokenPrograms(opened, ledger)
  const accounts = [
    reads(CONFIG),
    ...mints.map(reads),
    // No badges: the mints have no extensions that would need them.
    reads(newAddress(world)),
    reads(newAddress(world)),
    signs(pool.creator),
    writes(address),
    ...vaults.map(writes),
    reads(opened.feeTier),
    reads(programA),
    reads(programB),
    reads(SYSTEM),
    reads(RENT_SYSVAR)
  ]
  const data = initializePoolV2.write({ tickSpacing: TICK_SPACING, initialSqrtPrice: sqrtPrice })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: InitializePoolV2')
    call.createTokenAccount(vaults[0], address, mints[0])
    call.createTokenAccount(vaults[1], address, mints[1])
    writeState(call, opened)
    call.logData(
      poolInitialized.write({
        whirlpool: address,
        whirlpoolsConfig: CONFIG,
        tokenMintA: mints[0],
        tokenMintB: mints[1],
        tickSpacing: TICK_SPACING,
        tokenProgramA: programA,
        tokenProgramB: programB,
        decimalsA: ledger.mint(mints[0]).decimals,
        decimalsB: ledger.mint(mints[1]).decimals,
        initialSqrtPrice: sqrtPrice
      })
    )
  })
  const liquidity = liquidityOf(offered, sqrtPrice, RANGE, 0n)
  const position = openPosition(script, opened, pool.creator, world)
  moveLiquidity(script, opened, position, 'add', liquidity, world)
  return opened
}

function swap(
  script: Caller,
  pool: Whirlpool,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const quote = swapWithFee(amountIn, from === 0, pool, RANGE, BigInt(FEE))
  if (quote === null || vaultBalances(pool, ledger)[from] + amountIn > U64_MAX) return null
  const { amountOut, fee } = quote
  const preSqrtPrice = pool.sqrtPrice
  const protocolFee = (fee * PROTOCOL_SHARE) / 10_000n
  pool.sqrtPrice = quote.sqrtPrice
  pool.protocolFees = withSide(pool.protocolFees, from, pool.protocolFees[from] + protocolFee)
  pool.lpFees = withSide(pool.lpFees, from, pool.lpFees[from] + fee - protocolFee)
  const users = userAccounts(pool, trader, ledger)
  const accounts = [
    ...tokenPrograms(pool, ledger).map(reads),
    reads(MEMO),
    signs(trader),
    writes(pool.address),
    ...pool.mints.map(reads),
    writes(users[0]),
    writes(pool.vaults[0]),
    writes(users[1]),
    writes(pool.vaults[1]),
    // The current array thrice, as clients do where the next ones are not there.
    ...[1, 2, 3].map(() => writes(pool.tickArrays[1])),
    writes(pool.oracle)
  ]
  const data = swapV2.write({
    amount: amountIn,
    otherAmountThreshold: 0n,
    sqrtPriceLimit: from === 0 ? RANGE.lower : RANGE.upper,
    amountSpecifiedIsInput: true,
    aToB: from === 0,
    remainingAccountsInfo: null
  })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: SwapV2')
    const transfers = new PoolTransfers(call, pool, ledger)
    transfers.payIn(from, trader, amountIn)
    transfers.payOut(to, trader, pool.address, amountOut)
    call.logData(
      traded.write({
        whirlpool: pool.address,
        aToB: from === 0,
        preSqrtPrice,
        postSqrtPrice: pool.sqrtPrice,
        inputAmount: amountIn,
        outputAmount: amountOut,
        inputTransferFee: 0n,
        outputTransferFee: 0n,
        lpFee: fee - protocolFee,
        protocolFee
      })
    )
    writeState(call, pool)
  })
  return { amountIn, amountOut }
}

function changeLiquidity(
  script: Caller,
  pool: Whirlpool,
  by: Pubkey,
  thousandths: number,
  world: VenueWorld
): void {
  const adds = thousandths > 0
  const known = positionOf(pool.positions, by)
  const liquidity = liquidityChange(thousandths, pool.liquidity, known)
  const amounts = liquidityWorth(liquidity, pool.sqrtPrice, RANGE, 0n, adds ? 'up' : 'down')
  if (!canMove(pool, world.ledger, by, adds, amounts)) return
  if (known === undefined && pool.positions.length >= POSITION_LIMIT) return
  const position = known ?? openPosition(script, pool, by, world)
  moveLiquidity(script, pool, position, adds ? 'add' : 'remove', liquidity, world)
}

function openPosition(script: Caller, pool: Whirlpool, owner: Pubkey, world: VenueWorld): Position {
  const position = newPosition(owner, world, 'associated')
  pool.positions.push(position)
  const accounts = [
    signs(owner),
    reads(owner),
    writes(position.address),
    signs(position.nftMint),
    writes(position.nftAccount),
    reads(pool.address),
    reads(TOKEN_2022),
    reads(SYSTEM),
    reads(ASSOCIATED_TOKEN),
    reads(METADATA_AUTHORITY)
  ]
  const ticks = { tickLowerIndex: RANGE.lowerTick, tickUpperIndex: RANGE.upperTick }
  const data = openPositionWithTokenExtensions.write({ ...ticks, withTokenMetadataExtension: false })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: OpenPositionWithTokenExtensions')
    mintPositionNft(call, position, position.address)
    writePosition(call, pool, position)
    call.logData(positionOpened.write({ whirlpool: pool.address, position: position.address, ...ticks }))
  })
  return position
}

function moveLiquidity(
  script: Caller,
  pool: Whirlpool,
  position: Position,
  event: 'add' | 'remove',
  liquidity: bigint,
  { ledger }: VenueWorld
): void {
  const adds = event === 'add'
  const amounts = liquidityWorth(liquidity, pool.sqrtPrice, RANGE, 0n, adds ? 'up' : 'down')
  const { owner, address, nftAccount } = position
  position.liquidity += adds ? liquidity : -liquidity
  pool.liquidity += adds ? liquidity : -liquidity
  if (position.liquidity === 0n) pool.positions = pool.positions.filter((each) => each !== position)
  const accounts = [
    writes(pool.address),
    ...tokenPrograms(pool, ledger).map(reads),
    reads(MEMO),
    signs(owner),
    writes(address),
    reads(nftAccount),
    ...pool.mints.map(reads),
    ...userAccounts(pool, owner, ledger).map(writes),
    ...pool.vaults.map(writes),
    writes(pool.tickArrays[0]),
    writes(pool.tickArrays[2])
  ]
  const remainingAccountsInfo = null
  const data = adds
    ? increaseLiquidityV2.write({
        liquidityAmount: liquidity,
        tokenMaxA: amounts[0],
        tokenMaxB: amounts[1],
        remainingAccountsInfo
      })
    : decreaseLiquidityV2.write({
        liquidityAmount: liquidity,
        tokenMinA: 0n,
        tokenMinB: 0n,
        remainingAccountsInfo
      })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log(`Instruction: ${adds ? 'IncreaseLiquidityV2' : 'DecreaseLiquidityV2'}`)
    const transfers = new PoolTransfers(call, pool, ledger)
    for (const side of [0, 1] as const) {
      if (adds) transfers.payIn(side, owner, amounts[side])
      else transfers.payOut(side, owner, pool.address, amounts[side])
    }
    call.logData(
      (adds ? liquidityIncreased : liquidityDecreased).write({
        whirlpool: pool.address,
        position: address,
        tickLowerIndex: RANGE.lowerTick,
        tickUpperIndex: RANGE.upperTick,
        liquidity,
        tokenAAmount: amounts[0],
        tokenBAmount: amounts[1],
        tokenATransferFee: 0n,
        tokenBTransferFee: 0n
      })
    )
    writePosition(call, pool, position)
    writeState(call, pool)
  })
}

function writePosition(call: CallScript, pool: Whirlpool, position: Position): void {
  const state = new AccountBytes(216, 'aabc8fe47a40f7d0')
    .key(8, pool.address)
    .key(40, position.nftMint)
    .u128(72, position.liquidity)
    .i32(88, RANGE.lowerTick)
    .i32(92, RANGE.upperTick)
  call.write(position.address, state.bytes)
}

function writeState(call: CallScript, pool: Whirlpool): void {
  const state = new AccountBytes(653, '3f95d10ce1806309')
    .key(8, CONFIG)
    .u16(41, TICK_SPACING)
    .u16(45, FEE)
    .u16(47, Number(PROTOCOL_SHARE))
    .u128(49, pool.liquidity)
    .u128(65, pool.sqrtPrice)
    .i32(81, tickAtSqrtPrice(pool.sqrtPrice))
    .u64(85, pool.protocolFees[0])
    .u64(93, pool.protocolFees[1])
    .key(101, pool.mints[0])
    .key(133, pool.vaults[0])
    .key(181, pool.mints[1])
    .key(213, pool.vaults[1])
  call.write(pool.address, state.bytes)
}
