import type { Pubkey } from '../../../chain/pubkey.ts'
import { liquidityOf, liquidityWorth, priceOf, sqrtPriceOf, swapWithFee } from '../curves/concentrated.ts'
import { fullRange, tickAtSqrtPrice } from '../curves/ticks.ts'
import type { CallScript } from '../script.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import {
  addToSide,
  createVaults,
  key,
  moveBoth,
  newAddress,
  newSides,
  poolAddresses,
  startAmounts,
  type Caller,
  type Pair,
  type PoolSides
} from './pool-sides.ts'
import { exchange, poolSwap, type SwapRoute, type Swapped } from './pool-swap.ts'
import {
  addLiquidity,
  mintPositionNft,
  newPosition,
  positionLiquidity,
  positionAddresses,
  type Position
} from './positions.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: the program's published interface, version 0.9.0. All liquidity spans the full range.

const CONFIG = key('2LecshUwdy9xi7meFgHtFJQNSKk4KdTrcpvaB56dP2NQ')

const program = new Program(key('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'), 'log', {
  config: CONFIG,
  metadataAuthority: key('3axbTs2z5GBy6usVbNVoqEgZMng3vZvMnAoX29BFfwhr')
})
const initializePoolV2 = program.instruction(
  'InitializePoolV2',
  'cf2d57f21b3fcc43',
  'tickSpacing:u16 initialSqrtPrice:u128',
  'config mints badges creator! pool* vaults* feeTier programs system rent'
)
const swapV2 = program.instruction(
  'SwapV2',
  '2b04ed0b1ac91e62',
  `amount:u64 otherAmountThreshold?:u64 sqrtPriceLimit:u128 amountSpecifiedIsInput:bool aToB:bool
  remainingAccountsInfo?:option<bytes>`,
  'programs memo trader! pool* mints userA* vaultA* userB* vaultB* ticks* oracle*'
)
const openPositionWithTokenExtensions = program.instruction(
  'OpenPositionWithTokenExtensions',
  'd42f5f5c726683fa',
  'tickLowerIndex:i32 tickUpperIndex:i32 withTokenMetadataExtension?:bool',
  'owner! owner position* nftMint! nftAccount* pool token2022 system associatedToken metadataAuthority'
)
const LIQUIDITY_ACCOUNTS = 'pool* programs memo owner! position* nftAccount mints users* vaults* edgeTicks*'
const increaseLiquidityV2 = program.instruction(
  'IncreaseLiquidityV2',
  '851d59df45eeb00a',
  'liquidityAmount:u128 tokenMaxA:u64 tokenMaxB:u64 remainingAccountsInfo?:option<bytes>',
  LIQUIDITY_ACCOUNTS
)
const decreaseLiquidityV2 = program.instruction(
  'DecreaseLiquidityV2',
  '3a7fbc3e4f52c460',
  'liquidityAmount:u128 tokenMinA?:u64 tokenMinB?:u64 remainingAccountsInfo?:option<bytes>',
  LIQUIDITY_ACCOUNTS
)
const poolInitialized = program.event(
  '6476ad570cc6fee5',
  `whirlpool:pubkey whirlpoolsConfig:pubkey tokenMintA:pubkey tokenMintB:pubkey tickSpacing:u16
  tokenProgramA:pubkey tokenProgramB:pubkey decimalsA:u8 decimalsB:u8 initialSqrtPrice:u128`
)
const traded = program.event(
  'e1ca49af932ba096',
  `whirlpool:pubkey aToB:bool preSqrtPrice:u128 postSqrtPrice:u128 inputAmount:u64 outputAmount:u64
  inputTransferFee?:u64 outputTransferFee?:u64 lpFee:u64 protocolFee:u64`
)
const positionOpened = program.event(
  'edaff3e693756579',
  'whirlpool:pubkey position:pubkey tickLowerIndex:i32 tickUpperIndex:i32'
)
const LIQUIDITY_MOVED = `whirlpool:pubkey position:pubkey tickLowerIndex:i32 tickUpperIndex:i32
  liquidity:u128 tokenAAmount:u64 tokenBAmount:u64 tokenATransferFee?:u64 tokenBTransferFee?:u64`
const liquidityIncreased = program.event('1e0790b566fe9ba1', LIQUIDITY_MOVED)
const liquidityDecreased = program.event('a601244770cab5ab', LIQUIDITY_MOVED)
const positionAccount = account(
  216,
  'aabc8fe47a40f7d0',
  `pool:pubkey@8 nftMint:pubkey@40 liquidity:u128@72 lowerTick:i32@88 upperTick:i32@92`
)
const poolAccount = account(
  653,
  '3f95d10ce1806309',
  `config:pubkey@8 tickSpacing:u16@41 feeRate:u16@45 protocolFeeRate:u16@47 liquidity:u128@49
  sqrtPrice:u128@65 tick:i32@81 protocolFees:u64[2]@85 mintA:pubkey@101 vaultA:pubkey@133 mintB:pubkey@181
  vaultB:pubkey@213`
)

const TICK_SPACING = 64
const RANGE = fullRange(TICK_SPACING)
const RANGE_TICKS = { tickLowerIndex: RANGE.lowerTick, tickUpperIndex: RANGE.upperTick }
/** Fee on the input in millionths, and the protocol's share of it in ten-thousandths. */
const FEE = 3000
const PROTOCOL_SHARE = 1300n

export interface Whirlpool extends PoolSides {
  readonly address: Pubkey
  readonly oracle: Pubkey
  readonly feeTier: Pubkey
  /** Tick arrays of the lowest, the current and the highest prices. */
  readonly tickArrays: readonly [Pubkey, Pubkey, Pubkey]
  sqrtPrice: bigint
  liquidity: bigint
  protocolFees: Pair
  /** Uncollected fees of the positions. */
  lpFees: Pair
  positions: Position[]
}

export const orcaWhirlpoolPools = {
  venue: 'orca-whirlpool',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity: positionLiquidity<Whirlpool>(RANGE, 0n, (script, pool, owner, change, world) => {
    const position = change.known ?? openPosition(script, pool, owner, world)
    moveLiquidity(script, pool, position, change.adds, change.liquidity, world)
  }),
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
  const { address, mints } = opened
  // The mints have no extensions that need badges, so these addresses have no accounts.
  const badges = [newAddress(world), newAddress(world)]
  const addresses = { ...poolAddresses(opened, pool.creator, ledger), creator: pool.creator, badges }
  const terms = { tickSpacing: TICK_SPACING, initialSqrtPrice: sqrtPrice }
  initializePoolV2.call(script, addresses, terms, (call) => {
    createVaults(call, opened, address)
    writeState(call, opened)
    poolInitialized.emit(call, {
      ...terms,
      whirlpool: address,
      whirlpoolsConfig: CONFIG,
      tokenMintA: mints[0],
      tokenMintB: mints[1],
      tokenProgramA: addresses.programs[0],
      tokenProgramB: addresses.programs[1],
      decimalsA: ledger.mint(mints[0]).decimals,
      decimalsB: ledger.mint(mints[1]).decimals
    })
  })
  const liquidity = liquidityOf(offered, sqrtPrice, RANGE, 0n)
  const position = openPosition(script, opened, pool.creator, world)
  moveLiquidity(script, opened, position, true, liquidity, world)
  return opened
}

function quoteSwap(pool: Whirlpool, { from }: SwapRoute, amountIn: bigint) {
  return swapWithFee(amountIn, from === 0, pool, RANGE, BigInt(FEE))
}

function writeSwap(
  script: Caller,
  pool: Whirlpool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>
): void {
  const { from, users } = route
  const { amountIn, amountOut, fee, sqrtPrice } = swapped
  const { vaults, tickArrays, sqrtPrice: preSqrtPrice } = pool
  const protocolFee = (fee * PROTOCOL_SHARE) / 10_000n
  const lpFee = fee - protocolFee
  pool.sqrtPrice = sqrtPrice
  pool.protocolFees = addToSide(pool.protocolFees, from, protocolFee)
  pool.lpFees = addToSide(pool.lpFees, from, lpFee)
  const addresses = {
    ...pool,
    ...route,
    userA: users[0],
    userB: users[1],
    vaultA: vaults[0],
    vaultB: vaults[1],
    // Repeats the current array, as clients do if the next ones do not exist.
    ticks: [tickArrays[1], tickArrays[1], tickArrays[1]]
  }
  const args = {
    amount: amountIn,
    sqrtPriceLimit: from === 0 ? RANGE.lower : RANGE.upper,
    amountSpecifiedIsInput: true,
    aToB: from === 0
  }
  swapV2.call(script, addresses, args, (call) => {
    exchange(call, route, pool.address, swapped)
    traded.emit(call, {
      whirlpool: pool.address,
      aToB: from === 0,
      preSqrtPrice,
      postSqrtPrice: sqrtPrice,
      inputAmount: amountIn,
      outputAmount: amountOut,
      lpFee,
      protocolFee
    })
    writeState(call, pool)
  })
}

function openPosition(script: Caller, pool: Whirlpool, owner: Pubkey, world: VenueWorld): Position {
  const position = newPosition(owner, world, 'associated')
  pool.positions.push(position)
  const addresses = positionAddresses(pool, position, world.ledger)
  openPositionWithTokenExtensions.call(script, addresses, RANGE_TICKS, (call) => {
    mintPositionNft(call, position, position.address)
    writePosition(call, pool, position)
    positionOpened.emit(call, { whirlpool: pool.address, position: position.address, ...RANGE_TICKS })
  })
  return position
}

function moveLiquidity(
  script: Caller,
  pool: Whirlpool,
  position: Position,
  adds: boolean,
  liquidity: bigint,
  { ledger }: VenueWorld
): void {
  const amounts = liquidityWorth(liquidity, pool.sqrtPrice, RANGE, 0n, adds ? 'up' : 'down')
  const [tokenMaxA, tokenMaxB] = amounts
  addLiquidity(pool, position, adds ? liquidity : -liquidity)
  const [lowest, , highest] = pool.tickArrays
  const addresses = { ...positionAddresses(pool, position, ledger), edgeTicks: [lowest, highest] }
  const body = (call: CallScript): void => {
    moveBoth(call, addresses, adds ? 'in' : 'out', adds ? position.owner : pool.address, amounts)
    const event = adds ? liquidityIncreased : liquidityDecreased
    event.emit(call, {
      ...RANGE_TICKS,
      whirlpool: pool.address,
      position: position.address,
      liquidity,
      tokenAAmount: amounts[0],
      tokenBAmount: amounts[1]
    })
    writePosition(call, pool, position)
    writeState(call, pool)
  }
  if (!adds) return decreaseLiquidityV2.call(script, addresses, { liquidityAmount: liquidity }, body)
  increaseLiquidityV2.call(script, addresses, { liquidityAmount: liquidity, tokenMaxA, tokenMaxB }, body)
}

function writePosition(call: CallScript, pool: Whirlpool, position: Position): void {
  call.write(position.address, positionAccount({ ...position, ...RANGE, pool: pool.address }))
}

function writeState(call: CallScript, pool: Whirlpool): void {
  const { mints, vaults } = pool
  const stated = {
    ...pool,
    config: CONFIG,
    tickSpacing: TICK_SPACING,
    feeRate: FEE,
    protocolFeeRate: Number(PROTOCOL_SHARE),
    tick: tickAtSqrtPrice(pool.sqrtPrice),
    mintA: mints[0],
    vaultA: vaults[0],
    mintB: mints[1],
    vaultB: vaults[1]
  }
  call.write(pool.address, poolAccount(stated))
}
