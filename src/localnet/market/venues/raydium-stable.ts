import type { Pubkey } from '../../../chain/pubkey.ts'
import { firstShares } from '../curves/constant-product.ts'
import { ceilDiv } from '../curves/integers.ts'
import { stableOut, stablePrice } from '../curves/stable-swap.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { Executed, NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import {
  OPEN_BOOK,
  SWAP_BOOK,
  WITHDRAWAL_BOOK,
  WITHDRAWAL_QUEUES,
  orderBookOf,
  type OrderBook
} from './order-book-accounts.ts'
import { moveShares, sharesLiquidity, type SharesChange } from './pool-shares.ts'
import {
  createVaults,
  decimalsOf,
  key,
  moveBoth,
  newAddress,
  newSides,
  otherSide,
  poolAddresses,
  startAmounts,
  timeOf,
  vaultBalances,
  type Caller,
  type Pair,
  type PoolSides
} from './pool-sides.ts'
import { exchange, poolSwap, type SwapRoute } from './pool-swap.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: raydium-sdk-v2, version-5 pools. The program is closed and its curve a table; here it is Curve's, flat around
// the pool's opening price.

const AUTHORITY = key('3uaZBfHPfmpAHW7dsimC1SnyR61X4bJqQZKWmRSCXJxv')
const MODEL_DATA = key('CDSr3ssLcRB6XYPJwAfFt18MZvEZp4LjHcvzBVZ45duo')
const OWNER = key('GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ')

const program = new Program(key('5quBtoiQqxF9Jv6KYKctB59NT3gtJD2Y65kdnB1Uev3h'), 'log', {
  authority: AUTHORITY,
  modelData: MODEL_DATA,
  openBook: OPEN_BOOK
})
const MADE = 'authority openOrders* lpMint* mints vaults*'
const preInitialize = program.instruction(
  'PreInitialize',
  '0a',
  'nonce:u8',
  `token system rent ${MADE} creator!`
)
const initialize = program.instruction(
  'Initialize',
  '00',
  'nonce:u8 openTime:u64',
  `token pool* ${MADE} targetOrders* modelData openBook market users* lpAccount* creator!`
)
const swapBaseIn = program.instruction(
  'SwapBaseIn',
  '09',
  'amountIn:u64 minimumAmountOut?:u64',
  `token pool* authority openOrders* vaults* modelData ${SWAP_BOOK} userIn* userOut* trader!`
)
const LIQUIDITY_ACCOUNTS = 'token pool* authority openOrders* targetOrders* lpMint* vaults* modelData'
const deposit = program.instruction(
  'Deposit',
  '03',
  'maxCoin:u64 maxPc:u64 baseSide?:u64',
  `${LIQUIDITY_ACCOUNTS} market users* lpAccount* provider!`
)
const withdraw = program.instruction(
  'Withdraw',
  '04',
  'amount:u64',
  `${LIQUIDITY_ACCOUNTS} ${WITHDRAWAL_BOOK} lpAccount* users* provider! ${WITHDRAWAL_QUEUES}`
)

const poolAccount = account(
  1232,
  '',
  `decimals:u64[2]@40 vaults:pubkey[2]@368 mints:pubkey[2]@432 lpMint:pubkey@496 modelData:pubkey@528
  openOrders:pubkey@560 market:pubkey@592 openBook:pubkey@624 targetOrders:pubkey@656 owner:pubkey@688`
)

/** Fee on the input, which stays in the pool in full. */
const FEE = { numerator: 4n, denominator: 10_000n }

export interface StablePool extends PoolSides {
  readonly address: Pubkey
  readonly lpMint: Pubkey
  readonly openOrders: Pubkey
  readonly targetOrders: Pubkey
  readonly book: OrderBook
  /** Weight of a raw unit of each side: at the first price both sides have equal weight. */
  readonly weights: Pair
}

export const raydiumStablePools = {
  venue: 'raydium-stable',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity: sharesLiquidity<StablePool>({ lpMint: ({ lpMint }) => lpMint, write: writeLiquidity }),
  price(pool: StablePool, { ledger }: VenueWorld): number {
    const { baseSide, weights } = pool
    const quoteSide = otherSide(baseSide)
    const weighed = weighedReserves(pool, ledger)
    const price = stablePrice(weighed[baseSide], weighed[quoteSide])
    return (price * Number(weights[baseSide])) / Number(weights[quoteSide])
  }
} satisfies PoolVenue<StablePool>

function open(script: Caller, pool: NewPool, world: VenueWorld): StablePool {
  const { ledger } = world
  const { creator } = pool
  const sides = newSides(pool, world, 'as-given')
  const amounts = startAmounts(sides, pool)
  const opened: StablePool = {
    ...sides,
    address: newAddress(world),
    lpMint: newAddress(world),
    openOrders: newAddress(world),
    targetOrders: newAddress(world),
    book: orderBookOf(world),
    weights: [amounts[1], amounts[0]]
  }
  const { lpMint, mints } = opened
  preInitialize.call(script, { ...opened, creator }, { nonce: 255 }, (call) => {
    call.createMint({ address: lpMint, decimals: ledger.mint(mints[0]).decimals, authority: AUTHORITY })
    createVaults(call, opened, AUTHORITY)
  })
  const lpAccount = script.ensureTokenAccount(creator, lpMint)
  const addresses = { ...poolAddresses(opened, creator, ledger), ...opened.book, creator, lpAccount }
  initialize.call(script, addresses, { nonce: 255, openTime: timeOf(script) }, (call) => {
    moveBoth(call, addresses, 'in', creator, amounts, false)
    call.mintTo({ mint: lpMint, to: lpAccount, authority: AUTHORITY, amount: firstShares(amounts) })
    writeState(call, opened, ledger)
  })
  return opened
}

function quoteSwap(pool: StablePool, { from, to }: SwapRoute, amountIn: bigint, { ledger }: VenueWorld) {
  const weighed = weighedReserves(pool, ledger)
  if (weighed[0] === 0n || weighed[1] === 0n) return null
  const input = amountIn - ceilDiv(amountIn * FEE.numerator, FEE.denominator)
  const amountOut = stableOut(input * pool.weights[from], weighed[from], weighed[to]) / pool.weights[to]
  return { amountOut }
}

function writeSwap(script: Caller, pool: StablePool, route: SwapRoute, swapped: Executed): void {
  const addresses = { ...pool, ...pool.book, ...route }
  swapBaseIn.call(script, addresses, { amountIn: swapped.amountIn }, (call) =>
    exchange(call, route, AUTHORITY, swapped, false)
  )
}

function weighedReserves(pool: StablePool, ledger: LedgerView): Pair {
  const [coin, pc] = vaultBalances(pool, ledger)
  return [coin * pool.weights[0], pc * pool.weights[1]]
}

function writeLiquidity(script: Caller, pool: StablePool, change: SharesChange): void {
  const { adds, shares, amounts } = change
  const addresses = { ...pool, ...pool.book, ...change }
  const body = (call: CallScript): void => moveShares(call, change, AUTHORITY, 'last', false)
  if (adds) deposit.call(script, addresses, { maxCoin: amounts[0], maxPc: amounts[1] }, body)
  else withdraw.call(script, addresses, { amount: shares }, body)
}

/** Writes the pool's account: its addresses, without amounts, which only the vaults have. */
function writeState(call: CallScript, pool: StablePool, ledger: LedgerView): void {
  const { market } = pool.book
  const decimals = decimalsOf(pool, ledger).map(BigInt)
  const addresses = { market, modelData: MODEL_DATA, openBook: OPEN_BOOK, owner: OWNER }
  call.write(pool.address, poolAccount({ ...pool, ...addresses, decimals }))
}
