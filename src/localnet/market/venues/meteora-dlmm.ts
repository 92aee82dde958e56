import { i32, i64, pubkey } from '../../../chain/codec.ts'
import { layout } from '../../../chain/layout.ts'
import { samePubkey, type Pubkey } from '../../../chain/pubkey.ts'
import {
  addLiquidityEvent,
  lbPairCreateEvent,
  removeLiquidityEvent,
  swap2Event,
  swapEvent
} from '../../../chain/venues/meteora-dlmm-events.ts'
import {
  ADDS,
  CUSTOMIZABLE_PAIRS,
  EXACT_IN_SWAPS,
  REMOVES
} from '../../../chain/venues/meteora-dlmm-instructions.ts'
import {
  afterFills,
  binAtPrice,
  binPrice,
  fillBins,
  partOfBins,
  spreadEvenly,
  sumOfBins,
  type Bin
} from '../curves/bins.ts'
import { sharesOf } from '../curves/constant-product.ts'
import { MEMO, SYSTEM } from '../../programs.ts'
import type { CallScript } from '../script.ts'
import type { Executed, NewPool, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import {
  BASE_FACTOR,
  BINS_EACH_SIDE,
  BIN_STEP,
  EVENT_AUTHORITY,
  FEE,
  PROGRAM,
  PROTOCOL_SHARE,
  arrayIndexOf,
  arraysBetween,
  writeArrays,
  writePair,
  type DlmmPool,
  type DlmmPosition
} from './meteora-dlmm-pool.ts'
import {
  PoolTransfers,
  U64_MAX,
  canMove,
  newAddress,
  newSides,
  otherSide,
  sideIn,
  tokenPrograms,
  userAccounts,
  vaultBalances,
  withSide,
  type Caller,
  type Pair
} from './pool-sides.ts'
import { POSITION_LIMIT } from './positions.ts'
import { stateEvent } from './self-event.ts'

// Source: IDL 0.12.0 of @meteora-ag/dlmm 1.9.14. X is the token that is traded. Swaps state two events.

const initializeBinArray = layout('initializeBinArray', '235613b94ed44bd3', { index: i64 })
const initializePosition2 = layout('initializePosition2', '8f13f291d50f6873', { lowerBinId: i32, width: i32 })
const positionCreateEvent = layout('PositionCreate', '908efc549d352579', {
  lbPair: pubkey,
  position: pubkey,
  owner: pubkey
})

const [, swap2] = EXACT_IN_SWAPS
const [, initializePair] = CUSTOMIZABLE_PAIRS
const [, , , , addByStrategy] = ADDS
const [, , , , removeByRange] = REMOVES

/** What a first position is given for what it brings; only proportions matter. */
const FIRST_SHARES = 1n << 64n
const WIDTH = 2 * BINS_EACH_SIDE + 1
const NO_ACCOUNTS = { slices: [] }

export const meteoraDlmmPools = {
  venue: 'meteora-dlmm',
  open,
  swap,
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
  const { address, mints, vaults, oracle } = opened
  const [userX, userY] = userAccounts(opened, creator, ledger)
  const accounts = [
    writes(address),
    none(),
    ...mints.map(reads),
    ...vaults.map(writes),
    writes(oracle),
    reads(userX),
    signs(creator),
    none(),
    none(),
    ...tokenPrograms(opened, ledger).map(reads),
    reads(SYSTEM),
    reads(userY),
    ...eventAccounts()
  ]
  const params = {
    activeId,
    binStep: BIN_STEP,
    baseFactor: BASE_FACTOR,
    activationType: 1,
    hasAlphaVault: false,
    activationPoint: null,
    creatorPoolOnOffControl: false,
    baseFeePowerFactor: 0,
    concreteFunctionType: 0,
    collectFeeMode: 0,
    padding: new Uint8Array(60)
  }
  script.call(PROGRAM, accounts, initializePair.write({ params }), (call) => {
    call.log('Instruction: InitializeCustomizablePermissionlessLbPair2')
    writePair(call, opened)
    call.createTokenAccount(vaults[0], address, mints[0])
    call.createTokenAccount(vaults[1], address, mints[1])
    const event = { lbPair: address, binStep: BIN_STEP, tokenX: mints[0], tokenY: mints[1] }
    stateEvent(call, PROGRAM, EVENT_AUTHORITY, lbPairCreateEvent.write(event))
  })
  for (const array of opened.arrays) {
    const uses = [reads(address), writes(array.address), signs(creator), reads(SYSTEM)]
    script.call(PROGRAM, uses, initializeBinArray.write({ index: BigInt(array.index) }), (call) => {
      call.log('Instruction: InitializeBinArray')
      writeArrays(call, opened, [array])
    })
  }
  const position = openPosition(script, opened, creator, world)
  moveLiquidity(script, opened, position, FIRST_SHARES, bins, world)
  return opened
}

function swap(
  script: Caller,
  pool: DlmmPool,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const swapForY = from === 0
  const fills = fillBins(pool, pool.activeId, BIN_STEP, amountIn, swapForY, FEE)
  if (fills === null || vaultBalances(pool, ledger)[from] + amountIn > U64_MAX) return null
  const amountOut = fills.reduce((sum, { output }) => sum + output, 0n)
  const fee = fills.reduce((sum, each) => sum + each.fee, 0n)
  const protocolFee = fills.reduce((sum, each) => sum + (each.fee * PROTOCOL_SHARE) / 10_000n, 0n)
  const startBinId = pool.activeId
  const endBinId = fills.at(-1)!.id
  pool.bins = afterFills(pool, fills, swapForY)
  pool.activeId = endBinId
  pool.protocolFees = withSide(pool.protocolFees, from, pool.protocolFees[from] + protocolFee)
  pool.lpFees = withSide(pool.lpFees, from, pool.lpFees[from] + fee - protocolFee)
  const arrays = arraysBetween(pool, startBinId, endBinId)
  const users = userAccounts(pool, trader, ledger)
  const accounts = [
    writes(pool.address),
    none(),
    ...pool.vaults.map(writes),
    writes(users[from]),
    writes(users[to]),
    ...pool.mints.map(reads),
    writes(pool.oracle),
    // No host.
    none(),
    signs(trader),
    ...tokenPrograms(pool, ledger).map(reads),
    reads(MEMO),
    ...eventAccounts(),
    ...arrays.map(({ address }) => writes(address))
  ]
  const data = swap2.write({ amountIn, minAmountOut: 0n, remainingAccountsInfo: NO_ACCOUNTS })
  const shared = {
    lbPair: pool.address,
    from: trader,
    startBinId,
    endBinId,
    amountIn,
    amountOut,
    swapForY,
    protocolFee,
    feeBps: FEE,
    hostFee: 0n
  }
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: Swap2')
    stateEvent(call, PROGRAM, EVENT_AUTHORITY, swapEvent.write({ ...shared, fee }))
    const transfers = new PoolTransfers(call, pool, ledger)
    transfers.payIn(from, trader, amountIn)
    transfers.payOut(to, trader, pool.address, amountOut)
    const newer = swap2Event.write({
      ...shared,
      amountLeft: 0n,
      mmFee: fee - protocolFee,
      limitOrderFee: 0n,
      feesOnInput: true,
      feesOnTokenX: swapForY
    })
    stateEvent(call, PROGRAM, EVENT_AUTHORITY, newer)
    writeArrays(call, pool, arrays)
    writePair(call, pool)
  })
  return { amountIn, amountOut }
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
  const accounts = [
    signs(owner),
    signs(address),
    reads(pool.address),
    reads(owner),
    reads(SYSTEM),
    ...eventAccounts()
  ]
  const data = initializePosition2.write({ lowerBinId: pool.firstId, width: WIDTH })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: InitializePosition2')
    const state = new AccountBytes(8120, '75b0d4c7f5b485b6').key(8, pool.address).key(40, owner)
    call.write(address, state.bytes)
    const event = positionCreateEvent.write({ lbPair: pool.address, position: address, owner })
    stateEvent(call, PROGRAM, EVENT_AUTHORITY, event)
  })
  return position
}

/** Adds tokens to every bin, or takes them out where the shares are negative. */
function moveLiquidity(
  script: Caller,
  pool: DlmmPool,
  position: DlmmPosition,
  shares: bigint,
  bins: readonly Bin[],
  { ledger }: VenueWorld
): void {
  const adds = shares > 0n
  const amounts: Pair = sumOfBins(bins)
  const { owner, address } = position
  const sign = adds ? 1n : -1n
  pool.bins = pool.bins.map(({ x, y }, at) => ({ x: x + sign * bins[at]!.x, y: y + sign * bins[at]!.y }))
  pool.shares += shares
  position.shares += shares
  if (position.shares === 0n) pool.positions = pool.positions.filter((each) => each !== position)
  const minBinId = pool.firstId
  const maxBinId = pool.firstId + WIDTH - 1
  const accounts = [
    writes(address),
    writes(pool.address),
    none(),
    ...userAccounts(pool, owner, ledger).map(writes),
    ...pool.vaults.map(writes),
    ...pool.mints.map(reads),
    signs(owner),
    ...tokenPrograms(pool, ledger).map(reads),
    ...(adds ? [] : [reads(MEMO)]),
    ...eventAccounts(),
    ...pool.arrays.map((array) => writes(array.address))
  ]
  const data = adds
    ? addByStrategy.write({
        liquidityParameter: {
          amountX: amounts[0],
          amountY: amounts[1],
          activeId: pool.activeId,
          maxActiveBinSlippage: 3,
          // Spot, in the proportion that the bins have.
          strategyParameters: {
            minBinId,
            maxBinId,
            strategyType: 6,
            parameters: new Array<number>(64).fill(0)
          }
        },
        remainingAccountsInfo: NO_ACCOUNTS
      })
    : removeByRange.write({
        fromBinId: minBinId,
        toBinId: maxBinId,
        bpsToRemove: Number((-shares * 10_000n) / (position.shares - shares)),
        remainingAccountsInfo: NO_ACCOUNTS
      })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log(`Instruction: ${adds ? 'AddLiquidityByStrategy2' : 'RemoveLiquidityByRange2'}`)
    moveTokens(call, pool, owner, amounts, adds, ledger)
    const event = (adds ? addLiquidityEvent : removeLiquidityEvent).write({
      lbPair: pool.address,
      from: owner,
      position: address,
      amounts: [...amounts],
      activeBinId: pool.activeId
    })
    stateEvent(call, PROGRAM, EVENT_AUTHORITY, event)
    writeArrays(call, pool, pool.arrays)
    writePair(call, pool)
  })
}

function moveTokens(
  call: CallScript,
  pool: DlmmPool,
  owner: Pubkey,
  amounts: Pair,
  adds: boolean,
  ledger: VenueWorld['ledger']
): void {
  const transfers = new PoolTransfers(call, pool, ledger)
  for (const side of [0, 1] as const) {
    if (adds) transfers.payIn(side, owner, amounts[side])
    else transfers.payOut(side, owner, pool.address, amounts[side])
  }
}

/** An account that is left out: the program's own address stands for it. */
function none() {
  return reads(PROGRAM)
}

function eventAccounts() {
  return [reads(EVENT_AUTHORITY), reads(PROGRAM)]
}
