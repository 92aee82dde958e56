import type { Pubkey } from '../../../chain/pubkey.ts'
import { firstShares, productOut } from '../curves/constant-product.ts'
import { ceilDiv } from '../curves/integers.ts'
import { associatedTokenAccount } from '../../../signing/program-address.ts'
import { TOKEN } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
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
  poolAddresses,
  ratioPrice,
  startAmounts,
  timeOf,
  vaultBalances,
  type Caller,
  type PoolSides
} from './pool-sides.ts'
import { exchange, poolSwap, type SwapRoute, type Swapped } from './pool-swap.ts'
import { Program } from './program.ts'
import { account, record } from './record.ts'

// Source: raydium-io/raydium-amm, program source. Coin is the token, pc its currency. The order book is no longer used:
// its accounts are named and empty, so that the vaults are the reserves.

const AUTHORITY = key('5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1')
const OWNER = key('GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ')

const program = new Program(key('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'), 'log', {
  authority: AUTHORITY,
  config: key('9DCxsMizn3H1hprZ7xWe6LDzeUeZBksYFpBWBtSf1PQX'),
  feeReceiver: key('7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5'),
  openBook: OPEN_BOOK
})
const initialize2 = program.instruction(
  'Initialize2',
  '01',
  'nonce:u8 openTime:u64 initPcAmount:u64 initCoinAmount:u64',
  `token associatedToken system rent pool* authority openOrders* lpMint* mints vaults* targetOrders* config
  feeReceiver* openBook market creator! users* lpAccount*`
)
const SWAP_ARGS = 'amountIn:u64 minimumAmountOut?:u64'
const swapBaseIn = program.instruction(
  'SwapBaseIn',
  '09',
  SWAP_ARGS,
  `token pool* authority openOrders* targetOrders* vaults* ${SWAP_BOOK} userIn* userOut* trader!`
)
const swapBaseInV2 = program.instruction(
  'SwapBaseInV2',
  '10',
  SWAP_ARGS,
  'token pool* authority vaults* userIn* userOut* trader!'
)
const LIQUIDITY_ACCOUNTS = 'token pool* authority openOrders* targetOrders* lpMint* vaults*'
const deposit = program.instruction(
  'Deposit',
  '03',
  'maxCoin:u64 maxPc:u64 baseSide?:u64 otherAmountMin?:u64',
  `${LIQUIDITY_ACCOUNTS} market users* lpAccount* provider! eventQueue`
)
const withdraw = program.instruction(
  'Withdraw',
  '04',
  'amount:u64 minCoin?:u64 minPc?:u64',
  `${LIQUIDITY_ACCOUNTS} ${WITHDRAWAL_BOOK} lpAccount* users* provider! ${WITHDRAWAL_QUEUES}`
)

const poolAccount = account(
  752,
  '',
  `status:u64@0 nonce:u64@8 decimals:u64[2]@32 lots:u64[2]@88 tradeFee:u64[2]@144 swapFee:u64[2]@176
  openTime:u64@224 vaults:pubkey[2]@336 mints:pubkey[2]@400 lpMint:pubkey@464 openOrders:pubkey@496
  market:pubkey@528 openBook:pubkey@560 targetOrders:pubkey@592 owner:pubkey@688 lpAmount:u64@720`
)

// Events, each a line of the log.
const initLog = record(
  '00',
  `time:u64 pcDecimals:u8 coinDecimals:u8 pcLot:u64 coinLot:u64 pcAmount:u64 coinAmount:u64 market:pubkey`
)
const swapBaseInLog = record(
  '03',
  'amountIn:u64 minimumOut?:u64 direction:u64 userSource:u64 poolCoin:u64 poolPc:u64 outAmount:u64'
)
const BEFORE = 'poolCoin:u64 poolPc:u64 poolLp:u64 profitX?:u128 profitY?:u128'
const depositLog = record(
  '01',
  `maxCoin:u64 maxPc:u64 baseSide?:u64 ${BEFORE} deductCoin:u64 deductPc:u64 mintLp:u64`
)
const withdrawLog = record('02', `withdrawLp:u64 userLp:u64 ${BEFORE} outCoin:u64 outPc:u64`)

/** Fee on the input, which stays in the pool in full. */
const FEE = { numerator: 25n, denominator: 10_000n }
const OPEN_STATUS = 6n
const NONCE = 254

export interface AmmV4Pool extends PoolSides {
  readonly address: Pubkey
  readonly lpMint: Pubkey
  readonly openOrders: Pubkey
  readonly targetOrders: Pubkey
  readonly book: OrderBook
  readonly openTime: bigint
  /** Supply of shares, including those locked at the start. */
  lpAmount: bigint
}

export const raydiumAmmV4Pools = {
  venue: 'raydium-amm-v4',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity: sharesLiquidity<AmmV4Pool>({
    lpMint: ({ lpMint }) => lpMint,
    supply: ({ lpAmount }) => lpAmount,
    write: writeLiquidity
  }),
  price: (pool: AmmV4Pool, { ledger }: VenueWorld): number => ratioPrice(pool, vaultBalances(pool, ledger))
} satisfies PoolVenue<AmmV4Pool>

function open(script: Caller, pool: NewPool, world: VenueWorld): AmmV4Pool {
  const { ledger } = world
  const { creator } = pool
  const sides = newSides(pool, world, 'as-given')
  const amounts = startAmounts(sides, pool)
  const [coinDecimals, pcDecimals] = decimalsOf(sides, ledger)
  const locked = 10n ** BigInt(coinDecimals)
  const opened: AmmV4Pool = {
    ...sides,
    address: newAddress(world),
    lpMint: newAddress(world),
    openOrders: newAddress(world),
    targetOrders: newAddress(world),
    book: orderBookOf(world),
    openTime: timeOf(script),
    lpAmount: firstShares(amounts)
  }
  if (opened.lpAmount <= locked) throw new RangeError('too little for a pool')
  const { lpMint, openTime, book } = opened
  const lpAccount = associatedTokenAccount(creator, lpMint, TOKEN)
  const addresses = { ...poolAddresses(opened, creator, ledger), ...book, creator, lpAccount }
  const [initCoinAmount, initPcAmount] = amounts
  const args = { nonce: NONCE, openTime, initPcAmount, initCoinAmount }
  initialize2.call(script, addresses, args, (call) => {
    call.createMint({ address: lpMint, decimals: coinDecimals, authority: AUTHORITY })
    createVaults(call, opened, AUTHORITY)
    call.ensureTokenAccount(creator, lpMint)
    moveBoth(call, addresses, 'in', creator, amounts, false)
    call.mintTo({ mint: lpMint, to: lpAccount, authority: AUTHORITY, amount: opened.lpAmount - locked })
    const line = initLog({
      time: openTime,
      pcDecimals,
      coinDecimals,
      pcLot: 1n,
      coinLot: 1n,
      pcAmount: initPcAmount,
      coinAmount: initCoinAmount,
      market: book.market
    })
    rayLog(call, line)
    writeState(call, opened, ledger)
  })
  return opened
}

function quoteSwap(pool: AmmV4Pool, { from, to }: SwapRoute, amountIn: bigint, { ledger }: VenueWorld) {
  const before = vaultBalances(pool, ledger)
  const fee = ceilDiv(amountIn * FEE.numerator, FEE.denominator)
  return { amountOut: productOut(amountIn - fee, before[from], before[to]), before }
}

function writeSwap(
  script: Caller,
  pool: AmmV4Pool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>,
  { ledger, random }: VenueWorld
): void {
  const { amountIn, amountOut, before } = swapped
  // Since September 2025 the program also accepts a list without the order book; both are in use.
  const instruction = random.next() < 0.5 ? swapBaseInV2 : swapBaseIn
  instruction.call(script, { ...pool, ...pool.book, ...route }, { amountIn }, (call) => {
    const line = swapBaseInLog({
      amountIn,
      direction: route.from === 1 ? 1n : 2n,
      userSource: ledger.tokens(route.userIn),
      poolCoin: before[0],
      poolPc: before[1],
      outAmount: amountOut
    })
    rayLog(call, line)
    exchange(call, route, AUTHORITY, swapped, false)
    writeState(call, pool, ledger)
  })
}

function writeLiquidity(script: Caller, pool: AmmV4Pool, change: SharesChange, ledger: LedgerView): void {
  const { adds, shares, supply, amounts, reserves, lpAccount } = change
  const addresses = { ...pool, ...pool.book, ...change }
  const before = { poolCoin: reserves[0], poolPc: reserves[1], poolLp: supply }
  const most = { maxCoin: amounts[0], maxPc: amounts[1] }
  pool.lpAmount += adds ? shares : -shares
  const body = (call: CallScript): void => {
    const [coin, pc] = amounts
    const line = adds
      ? depositLog({ ...most, ...before, deductCoin: coin, deductPc: pc, mintLp: shares })
      : withdrawLog({
          withdrawLp: shares,
          userLp: ledger.tokens(lpAccount),
          ...before,
          outCoin: coin,
          outPc: pc
        })
    rayLog(call, line)
    moveShares(call, change, AUTHORITY, 'last', false)
    writeState(call, pool, ledger)
  }
  if (adds) deposit.call(script, addresses, most, body)
  else withdraw.call(script, addresses, { amount: shares }, body)
}

function rayLog(call: CallScript, entry: Uint8Array): void {
  call.log(`ray_log: ${entry.toBase64()}`)
}

function writeState(call: CallScript, pool: AmmV4Pool, ledger: LedgerView): void {
  const fee = [FEE.numerator, FEE.denominator]
  const stated = {
    ...pool,
    status: OPEN_STATUS,
    nonce: BigInt(NONCE),
    decimals: decimalsOf(pool, ledger).map(BigInt),
    lots: [1n, 1n],
    tradeFee: fee,
    swapFee: fee,
    market: pool.book.market,
    openBook: OPEN_BOOK,
    owner: OWNER
  }
  call.write(pool.address, poolAccount(stated))
}
