import { samePubkey, type Pubkey } from '../../../chain/pubkey.ts'
import {
  afterFills,
  binAtPrice,
  binPrice,
  fillBins,
  partOfBins,
  spreadEvenly,
  sumOfBins,
  type Bin,
  type BinFill
} from '../curves/bins.ts'
import { sharesOf } from '../curves/constant-product.ts'
import type { CallScript } from '../script.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import {
  BASE_FACTOR,
  BINS_EACH_SIDE,
  BIN_STEP,
  FEE,
  PROTOCOL_SHARE,
  arrayIndexOf,
  arraysBetween,
  writeArrays,
  writePair,
  type DlmmPool,
  type DlmmPosition
} from './meteora-dlmm-pool.ts'
import {
  addToSide,
  canMove,
  createVaults,
  key,
  moveBoth,
  newAddress,
  newSides,
  poolAddresses,
  type Caller
} from './pool-sides.ts'
import { exchange, poolSwap, type SwapRoute, type Swapped } from './pool-swap.ts'
import { POSITION_LIMIT } from './positions.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: IDL 0.12.0 of @meteora-ag/dlmm 1.9.14. X is the traded token. Swaps state two events. An optional account
// that is omitted is replaced by the program's own address.

const program = new Program(key('LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'), 'self-call', {})
const initializePair = program.instruction(
  'InitializeCustomizablePermissionlessLbPair2',
  'f349817e3313f16b',
  `activeId:i32 binStep:u16 baseFactor:u16 activationType:u8 hasAlphaVault?:bool activationPoint?:option<u64>
  creatorPoolOnOffControl?:bool baseFeePowerFactor?:u8 concreteFunctionType?:u8 collectFeeMode?:u8
  padding?:u8[60]`,
  `pool* program mints vaults* oracle* userX creator! program program programs system userY eventAuthority
  program`
)
const initializeBinArray = program.instruction(
  'InitializeBinArray',
  '235613b94ed44bd3',
  'index:i64',
  'pool array* creator! system'
)
const initializePosition2 = program.instruction(
  'InitializePosition2',
  '8f13f291d50f6873',
  'lowerBinId:i32 width:i32',
  'owner! position! pool owner system eventAuthority program'
)
const swap2 = program.instruction(
  'Swap2',
  '414b3f4ceb5b5b88',
  'amountIn:u64 minAmountOut?:u64 remainingAccounts?:vec<bytes>',
  `pool* program vaults* userIn* userOut* mints oracle* program trader! programs memo eventAuthority program
  arrays*`
)
const addLiquidityByStrategy2 = program.instruction(
  'AddLiquidityByStrategy2',
  '03dd95da6f8d76d5',
  `amountX:u64 amountY:u64 activeId:i32 maxActiveBinSlippage:i32 minBinId:i32 maxBinId:i32 strategyType:u8
  parameters?:u8[64] remainingAccounts?:vec<bytes>`,
  'position* pool* program users* vaults* mints owner! programs eventAuthority program arrays*'
)
const removeLiquidityByRange2 = program.instruction(
  'RemoveLiquidityByRange2',
  'cc02c391359191cd',
  'fromBinId:i32 toBinId:i32 bpsToRemove:u16 remainingAccounts?:vec<bytes>',
  'position* pool* program users* vaults* mints owner! programs memo eventAuthority program arrays*'
)
const lbPairCreateEvent = program.event(
  'b94afc7d1bd7bc6f',
  'lbPair:pubkey binStep:u16 tokenX:pubkey tokenY:pubkey'
)
const positionCreateEvent = program.event('908efc549d352579', 'lbPair:pubkey position:pubkey owner:pubkey')
const swapEvent = program.event(
  '516ce3becdd00ac4',
  `lbPair:pubkey from:pubkey startBinId:i32 endBinId:i32 amountIn:u64 amountOut:u64 swapForY:bool fee:u64
  protocolFee:u64 feeBps:u128 hostFee?:u64`
)
const swap2Event = program.event(
  '2e7452d7941b544d',
  `lbPair:pubkey from:pubkey startBinId:i32 endBinId:i32 swapForY:bool feeBps:u128 amountIn:u64
  amountLeft?:u64 amountOut:u64 mmFee:u64 protocolFee:u64 limitOrderFee?:u64 hostFee?:u64 feesOnInput:bool
  feesOnTokenX:bool`
)
const LIQUIDITY_MOVED = 'lbPair:pubkey from:pubkey position:pubkey amounts:u64[2] activeBinId:i32'
const addLiquidityEvent = program.event('1f5e7d5ae3343dba', LIQUIDITY_MOVED)
const removeLiquidityEvent = program.event('74f461e8671f983a', LIQUIDITY_MOVED)
const positionAccount = account(8120, '75b0d4c7f5b485b6', 'pair:pubkey@8 owner:pubkey@40')

/** Shares of the first position; only proportions matter. */
const FIRST_SHARES = 1n << 64n
const WIDTH = 2 * BINS_EACH_SIDE + 1
/** Strategy: spot, in the bins' proportions. */
const SPOT_IMBALANCED = 6

export const meteoraDlmmPools = {
  venue: 'meteora-dlmm',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity,
  price: ({ activeId }: DlmmPool): number => Number(binPrice(activeId, BIN_STEP)) / 2 ** 64
} satisfies PoolVenue<DlmmPool>

function open(script: Caller, pool: NewPool, world: VenueWorld): DlmmPool {
  const { ledger } = world
  const { creator, baseAmount, quoteAmount } = pool
  const sides = newSides(pool, world, 'as-given')
  const activeId = binAtPrice(Number(quoteAmount) / Number(baseAmount), BIN_STEP)
  const firstId = activeId - BINS_EACH_SIDE
  const firstArray = arrayIndexOf(firstId)
  const arrayCount = arrayIndexOf(firstId + WIDTH - 1) - firstArray + 1
  const bins = spreadEvenly(baseAmount, quoteAmount, BINS_EACH_SIDE)
  const opened: DlmmPool = {
    ...sides,
    address: newAddress(world),
    creator,
    oracle: newAddress(world),
    firstId,
    arrays: Array.from({ length: arrayCount }, (_, at) => ({
      index: firstArray + at,
      address: newAddress(world)
    })),
    activeId,
    bins: bins.map(() => ({ x: 0n, y: 0n })),
    shares: 0n,
    protocolFees: [0n, 0n],
    lpFees: [0n, 0n],
    positions: []
  }
  const { address, mints } = opened
  const listed = poolAddresses(opened, creator, ledger)
  const [userX, userY] = listed.users
  const terms = { activeId, binStep: BIN_STEP, baseFactor: BASE_FACTOR, activationType: 1 }
  initializePair.call(script, { ...listed, userX, userY }, terms, (call) => {
    writePair(call, opened)
    createVaults(call, opened, address)
    lbPairCreateEvent.emit(call, { lbPair: address, binStep: BIN_STEP, tokenX: mints[0], tokenY: mints[1] })
  })
  for (const array of opened.arrays) {
    const addresses = { ...listed, array: array.address }
    initializeBinArray.call(script, addresses, { index: BigInt(array.index) }, (call) =>
      writeArrays(call, opened, [array])
    )
  }
  const position = openPosition(script, opened, creator, world)
  moveLiquidity(script, opened, position, FIRST_SHARES, bins, world)
  return opened
}

function quoteSwap(pool: DlmmPool, { from }: SwapRoute, amountIn: bigint) {
  const fills = fillBins(pool, pool.activeId, BIN_STEP, amountIn, from === 0, FEE)
  if (fills === null) return null
  const sum = (amountOf: (fill: BinFill) => bigint): bigint =>
    fills.reduce((total, fill) => total + amountOf(fill), 0n)
  return {
    fills,
    amountOut: sum(({ output }) => output),
    fee: sum(({ fee }) => fee),
    protocolFee: sum(({ fee }) => (fee * PROTOCOL_SHARE) / 10_000n)
  }
}

function writeSwap(
  script: Caller,
  pool: DlmmPool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>
): void {
  const { from, trader } = route
  const { fills, amountIn, amountOut, fee, protocolFee } = swapped
  const swapForY = from === 0
  const startBinId = pool.activeId
  const endBinId = fills.at(-1)!.id
  const mmFee = fee - protocolFee
  pool.bins = afterFills(pool, fills, swapForY)
  pool.activeId = endBinId
  pool.protocolFees = addToSide(pool.protocolFees, from, protocolFee)
  pool.lpFees = addToSide(pool.lpFees, from, mmFee)
  const arrays = arraysBetween(pool, startBinId, endBinId)
  const bins = { lbPair: pool.address, from: trader, startBinId, endBinId, swapForY }
  const stated = { ...bins, amountIn, amountOut, protocolFee, feeBps: FEE }
  const addresses = { ...pool, ...route, arrays: arrays.map(({ address }) => address) }
  swap2.call(script, addresses, { amountIn }, (call) => {
    swapEvent.emit(call, { ...stated, fee })
    exchange(call, route, pool.address, swapped)
    swap2Event.emit(call, { ...stated, mmFee, feesOnInput: true, feesOnTokenX: swapForY })
    writeArrays(call, pool, arrays)
    writePair(call, pool)
  })
}

function changeLiquidity(
  script: Caller,
  pool: DlmmPool,
  by: Pubkey,
  thousandths: number,
  world: VenueWorld
): void {
  const adds = thousandths > 0
  const known = pool.positions.find(({ owner }) => samePubkey(owner, by))
  const shares = sharesOf(thousandths, pool.shares, known?.shares ?? 0n)
  const bins = partOfBins(pool.bins, shares, pool.shares === 0n ? 1n : pool.shares, adds ? 'up' : 'down')
  if (!canMove(pool, world.ledger, by, adds, sumOfBins(bins))) return
  if (known === undefined && pool.positions.length >= POSITION_LIMIT) return
  const position = known ?? openPosition(script, pool, by, world)
  moveLiquidity(script, pool, position, adds ? shares : -shares, bins, world)
}

function openPosition(script: Caller, pool: DlmmPool, owner: Pubkey, world: VenueWorld): DlmmPosition {
  const position: DlmmPosition = { owner, address: newAddress(world), shares: 0n }
  pool.positions.push(position)
  const { address } = position
  const args = { lowerBinId: pool.firstId, width: WIDTH }
  initializePosition2.call(script, { owner, position: address, pool: pool.address }, args, (call) => {
    call.write(address, positionAccount({ pair: pool.address, owner }))
    positionCreateEvent.emit(call, { lbPair: pool.address, position: address, owner })
  })
  return position
}

/** Adds tokens to every bin, or removes them if the shares are negative. */
function moveLiquidity(
  script: Caller,
  pool: DlmmPool,
  position: DlmmPosition,
  shares: bigint,
  bins: readonly Bin[],
  { ledger }: VenueWorld
): void {
  const adds = shares > 0n
  const amounts = sumOfBins(bins)
  const { owner, address } = position
  const sign = adds ? 1n : -1n
  pool.bins = pool.bins.map(({ x, y }, at) => ({ x: x + sign * bins[at]!.x, y: y + sign * bins[at]!.y }))
  pool.shares += shares
  position.shares += shares
  if (position.shares === 0n) pool.positions = pool.positions.filter((each) => each !== position)
  const [firstBin, lastBin] = [pool.firstId, pool.firstId + WIDTH - 1]
  const arrays = pool.arrays.map((array) => array.address)
  const addresses = { ...poolAddresses(pool, owner, ledger), position: address, owner, arrays }
  const body = (call: CallScript): void => {
    moveBoth(call, addresses, adds ? 'in' : 'out', adds ? owner : pool.address, amounts)
    const event = adds ? addLiquidityEvent : removeLiquidityEvent
    const stated = { lbPair: pool.address, from: owner, position: address }
    event.emit(call, { ...stated, amounts, activeBinId: pool.activeId })
    writeArrays(call, pool, pool.arrays)
    writePair(call, pool)
  }
  if (!adds) {
    const bpsToRemove = Number((-shares * 10_000n) / (position.shares - shares))
    const args = { fromBinId: firstBin, toBinId: lastBin, bpsToRemove }
    return removeLiquidityByRange2.call(script, addresses, args, body)
  }
  const args = {
    amountX: amounts[0],
    amountY: amounts[1],
    activeId: pool.activeId,
    maxActiveBinSlippage: 3,
    minBinId: firstBin,
    maxBinId: lastBin,
    strategyType: SPOT_IMBALANCED
  }
  addLiquidityByStrategy2.call(script, addresses, args, body)
}
