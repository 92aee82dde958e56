import type { Pubkey } from '../../../chain/pubkey.ts'
import {
  cpmmInitialize,
  deposit,
  lpChangeEvent,
  swapBaseInput,
  swapEvent,
  withdraw
} from '../../../chain/venues/raydium-cpmm-layouts.ts'
import { firstShares, productOut, shareWorth, sharesOf } from '../curves/constant-product.ts'
import { ceilDiv } from '../curves/integers.ts'
import { associatedTokenAccount } from '../program-address.ts'
import { ASSOCIATED_TOKEN, MEMO, RENT_SYSVAR, SYSTEM, TOKEN, TOKEN_2022 } from '../../programs.ts'
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
  ratioPrice,
  sideIn,
  startAmounts,
  timeOf,
  tokenPrograms,
  userAccounts,
  vaultBalances,
  withSide,
  type Caller,
  type Pair,
  type PoolSides
} from './pool-sides.ts'

// Source: raydium-io/raydium-cp-swap, program source. The event stands before the transfers.

const PROGRAM = key('CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C')
const AUTHORITY = key('GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL')
const CONFIG = key('D4FPEruKEHrG5TenZ2mpDGEfu1iUvTiqBxvpU8HLBvC2')
const FEE_RECEIVER = key('DNXgeM9EiiaAbaWvwjHj9fQQLAX5ZsfHyvmYUNRAdNC8')

/** Of the input in millionths; of that fee, what the protocol and the fund keep for themselves. */
const TRADE_FEE = 2500n
const PROTOCOL_SHARE = 120_000n
const FUND_SHARE = 40_000n
const MILLION = 1_000_000n
/** Shares that nobody gets. */
const LOCKED_SHARES = 100n

export interface CpmmPool extends PoolSides {
  readonly address: Pubkey
  readonly creator: Pubkey
  readonly lpMint: Pubkey
  readonly observation: Pubkey
  readonly openTime: bigint
  lpSupply: bigint
  /** Fees that lie in the vaults and are not the pool's any more. */
  protocolFees: Pair
  fundFees: Pair
}

export const raydiumCpmmPools = {
  venue: 'raydium-cpmm',
  open,
  swap,
  changeLiquidity,
  price: (pool: CpmmPool, { ledger }: VenueWorld): number => ratioPrice(pool, reserves(pool, ledger))
} satisfies PoolVenue<CpmmPool>

function open(script: Caller, pool: NewPool, world: VenueWorld): CpmmPool {
  const { ledger } = world
  const sides = newSides(pool, world, 'sorted')
  const amounts = startAmounts(sides, pool)
  const shares = firstShares(amounts)
  if (shares <= LOCKED_SHARES) throw new RangeError('too little for a pool')
  const opened: CpmmPool = {
    ...sides,
    address: newAddress(world),
    creator: pool.creator,
    lpMint: newAddress(world),
    observation: newAddress(world),
    openTime: timeOf(script),
    lpSupply: shares,
    protocolFees: [0n, 0n],
    fundFees: [0n, 0n]
  }
  const { creator, lpMint } = opened
  const [user0, user1] = userAccounts(opened, creator, ledger)
  const [program0, program1] = tokenPrograms(opened, ledger)
  const accounts = [
    signs(creator),
    reads(CONFIG),
    reads(AUTHORITY),
    writes(opened.address),
    reads(opened.mints[0]),
    reads(opened.mints[1]),
    writes(lpMint),
    writes(user0),
    writes(user1),
    writes(associatedTokenAccount(creator, lpMint, TOKEN)),
    writes(opened.vaults[0]),
    writes(opened.vaults[1]),
    writes(FEE_RECEIVER),
    writes(opened.observation),
    reads(TOKEN),
    reads(program0),
    reads(program1),
    reads(ASSOCIATED_TOKEN),
    reads(SYSTEM),
    reads(RENT_SYSVAR)
  ]
  const [initAmount0, initAmount1] = amounts
  const data = cpmmInitialize.write({ initAmount0, initAmount1, openTime: opened.openTime })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: Initialize')
    call.createMint({ address: lpMint, decimals: 9, authority: AUTHORITY })
    const lpAccount = call.ensureTokenAccount(creator, lpMint)
    call.createTokenAccount(opened.vaults[0], AUTHORITY, opened.mints[0])
    call.createTokenAccount(opened.vaults[1], AUTHORITY, opened.mints[1])
    const transfers = new PoolTransfers(call, opened, ledger)
    transfers.payIn(0, creator, initAmount0)
    transfers.payIn(1, creator, initAmount1)
    call.mintTo({ mint: lpMint, to: lpAccount, authority: AUTHORITY, amount: shares - LOCKED_SHARES })
    writeState(call, opened, ledger)
  })
  return opened
}

function swap(
  script: Caller,
  pool: CpmmPool,
  { trader, isBuy, amountIn }: Swap,
  world: VenueWorld
): Executed | null {
  const { ledger } = world
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const before = reserves(pool, ledger)
  const fee = ceilDiv(amountIn * TRADE_FEE, MILLION)
  const amountOut = productOut(amountIn - fee, before[from], before[to])
  if (amountOut <= 0n || before[from] + amountIn > U64_MAX) return null
  const users = userAccounts(pool, trader, ledger)
  const programs = tokenPrograms(pool, ledger)
  const accounts = [
    signs(trader),
    reads(AUTHORITY),
    reads(CONFIG),
    writes(pool.address),
    writes(users[from]),
    writes(users[to]),
    writes(pool.vaults[from]),
    writes(pool.vaults[to]),
    reads(programs[from]),
    reads(programs[to]),
    reads(pool.mints[from]),
    reads(pool.mints[to]),
    writes(pool.observation)
  ]
  const data = swapBaseInput.write({ amountIn, minimumAmountOut: 0n })
  pool.protocolFees = withSide(
    pool.protocolFees,
    from,
    pool.protocolFees[from] + (fee * PROTOCOL_SHARE) / MILLION
  )
  pool.fundFees = withSide(pool.fundFees, from, pool.fundFees[from] + (fee * FUND_SHARE) / MILLION)
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: SwapBaseInput')
    call.logData(
      swapEvent.write({
        poolId: pool.address,
        inputVaultBefore: before[from],
        outputVaultBefore: before[to],
        inputAmount: amountIn,
        outputAmount: amountOut,
        inputTransferFee: 0n,
        outputTransferFee: 0n,
        baseInput: true,
        inputMint: pool.mints[from],
        outputMint: pool.mints[to],
        tradeFee: fee,
        creatorFee: 0n,
        creatorFeeOnInput: true
      })
    )
    const transfers = new PoolTransfers(call, pool, ledger)
    transfers.payIn(from, trader, amountIn)
    transfers.payOut(to, trader, AUTHORITY, amountOut)
    writeState(call, pool, ledger)
  })
  return { amountIn, amountOut }
}

function changeLiquidity(
  script: Caller,
  pool: CpmmPool,
  by: Pubkey,
  thousandths: number,
  { ledger }: VenueWorld
): void {
  const adds = thousandths > 0
  const lpAccount = ledger.tokenAccountOf(by, pool.lpMint)
  const shares = sharesOf(thousandths, pool.lpSupply, ledger.tokens(lpAccount))
  const before = reserves(pool, ledger)
  const amounts = shareWorth(shares, pool.lpSupply, before, adds ? 'up' : 'down')
  if (!canMove(pool, ledger, by, adds, amounts)) return
  const users = userAccounts(pool, by, ledger)
  if (adds) script.ensureTokenAccount(by, pool.lpMint)
  const accounts = [
    signs(by),
    reads(AUTHORITY),
    writes(pool.address),
    writes(lpAccount),
    writes(users[0]),
    writes(users[1]),
    writes(pool.vaults[0]),
    writes(pool.vaults[1]),
    reads(TOKEN),
    reads(TOKEN_2022),
    reads(pool.mints[0]),
    reads(pool.mints[1]),
    writes(pool.lpMint)
  ]
  const lpAmountBefore = pool.lpSupply
  pool.lpSupply += adds ? shares : -shares
  const event = lpChangeEvent.write({
    poolId: pool.address,
    lpAmountBefore,
    token0VaultBefore: before[0],
    token1VaultBefore: before[1],
    token0Amount: amounts[0],
    token1Amount: amounts[1],
    token0TransferFee: 0n,
    token1TransferFee: 0n,
    changeType: adds ? 0 : 1
  })
  if (adds) {
    const data = deposit.write({
      lpTokenAmount: shares,
      maximumToken0Amount: amounts[0],
      maximumToken1Amount: amounts[1]
    })
    script.call(PROGRAM, accounts, data, (call) => {
      call.log('Instruction: Deposit')
      call.logData(event)
      const transfers = new PoolTransfers(call, pool, ledger)
      transfers.payIn(0, by, amounts[0])
      transfers.payIn(1, by, amounts[1])
      call.mintTo({ mint: pool.lpMint, to: lpAccount, authority: AUTHORITY, amount: shares })
      writeState(call, pool, ledger)
    })
  } else {
    const data = withdraw.write({ lpTokenAmount: shares, minimumToken0Amount: 0n, minimumToken1Amount: 0n })
    script.call(PROGRAM, [...accounts, reads(MEMO)], data, (call) => {
      call.log('Instruction: Withdraw')
      call.logData(event)
      call.burn({ mint: pool.lpMint, from: lpAccount, authority: by, amount: shares })
      const transfers = new PoolTransfers(call, pool, ledger)
      transfers.payOut(0, by, AUTHORITY, amounts[0])
      transfers.payOut(1, by, AUTHORITY, amounts[1])
      writeState(call, pool, ledger)
    })
  }
}

/** What the vaults hold without the fees that were taken out of the pool. */
function reserves(pool: CpmmPool, ledger: LedgerView): Pair {
  const { protocolFees, fundFees } = pool
  const [vault0, vault1] = vaultBalances(pool, ledger)
  return [vault0 - protocolFees[0] - fundFees[0], vault1 - protocolFees[1] - fundFees[1]]
}

function writeState(call: CallScript, pool: CpmmPool, ledger: LedgerView): void {
  const programs = tokenPrograms(pool, ledger)
  const state = new AccountBytes(637, 'f7ede3f5d7c3de46')
    .key(8, CONFIG)
    .key(40, pool.creator)
    .key(72, pool.vaults[0])
    .key(104, pool.vaults[1])
    .key(136, pool.lpMint)
    .key(168, pool.mints[0])
    .key(200, pool.mints[1])
    .key(232, programs[0])
    .key(264, programs[1])
    .key(296, pool.observation)
    .u8(330, 9)
    .u8(331, ledger.mint(pool.mints[0]).decimals)
    .u8(332, ledger.mint(pool.mints[1]).decimals)
    .u64(333, pool.lpSupply)
    .u64(341, pool.protocolFees[0])
    .u64(349, pool.protocolFees[1])
    .u64(357, pool.fundFees[0])
    .u64(365, pool.fundFees[1])
    .u64(373, pool.openTime)
  call.write(pool.address, state.bytes)
}
