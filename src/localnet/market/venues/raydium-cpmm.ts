import type { Pubkey } from '../../../chain/pubkey.ts'
import { firstShares, productOut } from '../curves/constant-product.ts'
import { ceilDiv } from '../curves/integers.ts'
import { associatedTokenAccount } from '../../../signing/program-address.ts'
import { TOKEN } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import { moveShares, sharesLiquidity, type SharesChange } from './pool-shares.ts'
import {
  addToSide,
  createVaults,
  decimalsOf,
  key,
  moveBoth,
  newAddress,
  newSides,
  poolAddresses,
  ratioPrice,
  startAmounts,
  timeOf,
  tokenPrograms,
  vaultBalances,
  type Caller,
  type Pair,
  type PoolSides
} from './pool-sides.ts'
import { exchange, poolSwap, type SwapRoute, type Swapped } from './pool-swap.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: raydium-io/raydium-cp-swap, program source. The event precedes the transfers.

const AUTHORITY = key('GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL')
const CONFIG = key('D4FPEruKEHrG5TenZ2mpDGEfu1iUvTiqBxvpU8HLBvC2')

const program = new Program(key('CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'), 'log', {
  authority: AUTHORITY,
  config: CONFIG,
  feeReceiver: key('DNXgeM9EiiaAbaWvwjHj9fQQLAX5ZsfHyvmYUNRAdNC8')
})
const initialize = program.instruction(
  'Initialize',
  'afaf6d1f0d989bed',
  'initAmount0:u64 initAmount1:u64 openTime:u64',
  `creator! config authority pool* mints lpMint* users* lpAccount* vaults* feeReceiver* observation*
  token programs associatedToken system rent`
)
const swapBaseInput = program.instruction(
  'SwapBaseInput',
  '8fbe5adac41e33de',
  'amountIn:u64 minimumAmountOut?:u64',
  `trader! authority config pool* userIn* userOut* vaultIn* vaultOut* programIn programOut mintIn mintOut
  observation*`
)
const LIQUIDITY_ACCOUNTS =
  'provider! authority pool* lpAccount* users* vaults* token token2022 mints lpMint*' as const
const deposit = program.instruction(
  'Deposit',
  'f223c68952e1f2b6',
  'lpTokenAmount:u64 maximumToken0Amount:u64 maximumToken1Amount:u64',
  LIQUIDITY_ACCOUNTS
)
const withdraw = program.instruction(
  'Withdraw',
  'b712469c946da122',
  'lpTokenAmount:u64 minimumToken0Amount?:u64 minimumToken1Amount?:u64',
  `${LIQUIDITY_ACCOUNTS} memo`
)
const swapEvent = program.event(
  '40c6cde8260871e2',
  `poolId:pubkey inputVaultBefore:u64 outputVaultBefore:u64 inputAmount:u64 outputAmount:u64
  inputTransferFee?:u64 outputTransferFee?:u64 baseInput:bool inputMint:pubkey outputMint:pubkey tradeFee:u64
  creatorFee?:u64 creatorFeeOnInput:bool`
)
const lpChangeEvent = program.event(
  '79a3cdc939da753c',
  `poolId:pubkey lpAmountBefore:u64 token0VaultBefore:u64 token1VaultBefore:u64 token0Amount:u64
  token1Amount:u64 token0TransferFee?:u64 token1TransferFee?:u64 changeType:u8`
)

const poolAccount = account(
  637,
  'f7ede3f5d7c3de46',
  `config:pubkey@8 creator:pubkey@40 vaults:pubkey[2]@72 lpMint:pubkey@136 mints:pubkey[2]@168
  programs:pubkey[2]@232 observation:pubkey@296 lpDecimals:u8@330 decimals:u8[2]@331 lpSupply:u64@333
  protocolFees:u64[2]@341 fundFees:u64[2]@357 openTime:u64@373`
)

/** Fee on the input in millionths; the shares of it for the protocol and the fund. */
const TRADE_FEE = 2500n
const PROTOCOL_SHARE = 120_000n
const FUND_SHARE = 40_000n
const MILLION = 1_000_000n
const LP_DECIMALS = 9
/** Shares that stay locked in the pool. */
const LOCKED_SHARES = 100n

export interface CpmmPool extends PoolSides {
  readonly address: Pubkey
  readonly creator: Pubkey
  readonly lpMint: Pubkey
  readonly observation: Pubkey
  readonly openTime: bigint
  lpSupply: bigint
  /** Fees in the vaults that no longer belong to the pool. */
  protocolFees: Pair
  fundFees: Pair
}

export const raydiumCpmmPools = {
  venue: 'raydium-cpmm',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity: sharesLiquidity<CpmmPool>({
    lpMint: ({ lpMint }) => lpMint,
    supply: ({ lpSupply }) => lpSupply,
    reserves: reservesOf,
    write: writeLiquidity
  }),
  price: (pool: CpmmPool, { ledger }: VenueWorld): number => ratioPrice(pool, reservesOf(pool, ledger))
} satisfies PoolVenue<CpmmPool>

function open(script: Caller, pool: NewPool, world: VenueWorld): CpmmPool {
  const { ledger } = world
  const { creator } = pool
  const sides = newSides(pool, world, 'sorted')
  const amounts = startAmounts(sides, pool)
  const shares = firstShares(amounts)
  if (shares <= LOCKED_SHARES) throw new RangeError('too little for a pool')
  const opened: CpmmPool = {
    ...sides,
    address: newAddress(world),
    creator,
    lpMint: newAddress(world),
    observation: newAddress(world),
    openTime: timeOf(script),
    lpSupply: shares,
    protocolFees: [0n, 0n],
    fundFees: [0n, 0n]
  }
  const { lpMint, openTime } = opened
  const lpAccount = associatedTokenAccount(creator, lpMint, TOKEN)
  const addresses = { ...poolAddresses(opened, creator, ledger), lpAccount }
  const [initAmount0, initAmount1] = amounts
  initialize.call(script, addresses, { initAmount0, initAmount1, openTime }, (call) => {
    call.createMint({ address: lpMint, decimals: LP_DECIMALS, authority: AUTHORITY })
    call.ensureTokenAccount(creator, lpMint)
    createVaults(call, opened, AUTHORITY)
    moveBoth(call, addresses, 'in', creator, amounts)
    call.mintTo({ mint: lpMint, to: lpAccount, authority: AUTHORITY, amount: shares - LOCKED_SHARES })
    writeState(call, opened, ledger)
  })
  return opened
}

function quoteSwap(pool: CpmmPool, { from, to }: SwapRoute, amountIn: bigint, { ledger }: VenueWorld) {
  const reserves = reservesOf(pool, ledger)
  const fee = ceilDiv(amountIn * TRADE_FEE, MILLION)
  return { amountOut: productOut(amountIn - fee, reserves[from], reserves[to]), fee, reserves }
}

function writeSwap(
  script: Caller,
  pool: CpmmPool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>,
  { ledger }: VenueWorld
): void {
  const { from, to } = route
  const { amountIn, amountOut, fee, reserves } = swapped
  pool.protocolFees = addToSide(pool.protocolFees, from, (fee * PROTOCOL_SHARE) / MILLION)
  pool.fundFees = addToSide(pool.fundFees, from, (fee * FUND_SHARE) / MILLION)
  swapBaseInput.call(script, { ...pool, ...route }, { amountIn }, (call) => {
    swapEvent.emit(call, {
      poolId: pool.address,
      inputVaultBefore: reserves[from],
      outputVaultBefore: reserves[to],
      inputAmount: amountIn,
      outputAmount: amountOut,
      baseInput: true,
      inputMint: route.mintIn,
      outputMint: route.mintOut,
      tradeFee: fee,
      creatorFeeOnInput: true
    })
    exchange(call, route, AUTHORITY, swapped)
    writeState(call, pool, ledger)
  })
}

function writeLiquidity(script: Caller, pool: CpmmPool, change: SharesChange, ledger: LedgerView): void {
  const { adds, shares, supply, reserves, amounts } = change
  pool.lpSupply += adds ? shares : -shares
  const body = (call: CallScript): void => {
    lpChangeEvent.emit(call, {
      poolId: pool.address,
      lpAmountBefore: supply,
      token0VaultBefore: reserves[0],
      token1VaultBefore: reserves[1],
      token0Amount: amounts[0],
      token1Amount: amounts[1],
      changeType: adds ? 0 : 1
    })
    moveShares(call, change, AUTHORITY, 'first')
    writeState(call, pool, ledger)
  }
  const [maximumToken0Amount, maximumToken1Amount] = amounts
  const most = { lpTokenAmount: shares, maximumToken0Amount, maximumToken1Amount }
  if (adds) deposit.call(script, change, most, body)
  else withdraw.call(script, change, { lpTokenAmount: shares }, body)
}

/** Returns the vaults' balances without the protocol's and the fund's fees. */
function reservesOf(pool: CpmmPool, ledger: LedgerView): Pair {
  const { protocolFees, fundFees } = pool
  const [vault0, vault1] = vaultBalances(pool, ledger)
  return [vault0 - protocolFees[0] - fundFees[0], vault1 - protocolFees[1] - fundFees[1]]
}

function writeState(call: CallScript, pool: CpmmPool, ledger: LedgerView): void {
  const programs = tokenPrograms(pool, ledger)
  const decimals = decimalsOf(pool, ledger)
  const stated = { ...pool, config: CONFIG, programs, lpDecimals: LP_DECIMALS, decimals }
  call.write(pool.address, poolAccount(stated))
}
