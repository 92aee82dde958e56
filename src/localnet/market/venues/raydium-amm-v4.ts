import { pubkey, u128, u64, u8 } from '../../../chain/codec.ts'
import { layout } from '../../../chain/layout.ts'
import type { Pubkey } from '../../../chain/pubkey.ts'
import { ammInitialize2, swapBaseInLog } from '../../../chain/venues/raydium-amm-v4.ts'
import { firstShares, productOut, shareWorth, sharesOf } from '../curves/constant-product.ts'
import { ceilDiv } from '../curves/integers.ts'
import { associatedTokenAccount } from '../program-address.ts'
import { ASSOCIATED_TOKEN, RENT_SYSVAR, SYSTEM, TOKEN } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { Executed, NewPool, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import { OPEN_BOOK, bookUses, orderBookOf, type OrderBook } from './order-book-accounts.ts'
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
  userAccounts,
  vaultBalances,
  type Caller,
  type PoolSides
} from './pool-sides.ts'

// Source: raydium-io/raydium-amm, program source. Coin is the token, pc what it is paid with. The order book is long out of
// use: its accounts are named and hold nothing, so that the vaults are the reserves.

const PROGRAM = key('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8')
const AUTHORITY = key('5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1')
const CONFIG = key('9DCxsMizn3H1hprZ7xWe6LDzeUeZBksYFpBWBtSf1PQX')
const FEE_RECEIVER = key('7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5')
const OWNER = key('GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ')

/** Of the input, which stays in the pool whole. */
const FEE = { numerator: 25n, denominator: 10_000n }
const OPEN_STATUS = 6n

export interface AmmV4Pool extends PoolSides {
  readonly address: Pubkey
  readonly lpMint: Pubkey
  readonly openOrders: Pubkey
  readonly targetOrders: Pubkey
  readonly book: OrderBook
  readonly openTime: bigint
  /** The supply of shares with what was locked at the start. */
  lpAmount: bigint
}

// What the decoder does not read of the program's data.
const SWAP_DATA = { amountIn: u64, minimumAmountOut: u64 }
const swapBaseIn = layout('swapBaseIn', '09', SWAP_DATA)
const swapBaseInV2 = layout('swapBaseInV2', '10', SWAP_DATA)
const deposit = layout('deposit', '03', { maxCoin: u64, maxPc: u64, baseSide: u64, otherAmountMin: u64 })
const withdraw = layout('withdraw', '04', { amount: u64, minCoin: u64, minPc: u64 })
const initLog = layout('ray_log initialize', '00', {
  time: u64,
  pcDecimals: u8,
  coinDecimals: u8,
  pcLot: u64,
  coinLot: u64,
  pcAmount: u64,
  coinAmount: u64,
  market: pubkey
})
const POOL_AND_PROFIT = { poolCoin: u64, poolPc: u64, poolLp: u64, profitX: u128, profitY: u128 }
const depositLog = layout('ray_log deposit', '01', {
  maxCoin: u64,
  maxPc: u64,
  baseSide: u64,
  ...POOL_AND_PROFIT,
  deductCoin: u64,
  deductPc: u64,
  mintLp: u64
})
const withdrawLog = layout('ray_log withdraw', '02', {
  withdrawLp: u64,
  userLp: u64,
  ...POOL_AND_PROFIT,
  outCoin: u64,
  outPc: u64
})

export const raydiumAmmV4Pools = {
  venue: 'raydium-amm-v4',
  open,
  swap,
  changeLiquidity,
  price: (pool: AmmV4Pool, { ledger }: VenueWorld): number => ratioPrice(pool, vaultBalances(pool, ledger))
} satisfies PoolVenue<AmmV4Pool>

function open(script: Caller, pool: NewPool, world: VenueWorld): AmmV4Pool {
  const { ledger } = world
  const { creator } = pool
  const sides = newSides(pool, world, 'as-given')
  const amounts = startAmounts(sides, pool)
  const decimals = sides.mints.map((mint) => ledger.mint(mint).decimals)
  const locked = 10n ** BigInt(decimals[0]!)
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
  const { lpMint, vaults, openTime } = opened
  const [userCoin, userPc] = userAccounts(opened, creator, ledger)
  const accounts = [
    reads(TOKEN),
    reads(ASSOCIATED_TOKEN),
    reads(SYSTEM),
    reads(RENT_SYSVAR),
    writes(opened.address),
    reads(AUTHORITY),
    writes(opened.openOrders),
    writes(lpMint),
    reads(sides.mints[0]),
    reads(sides.mints[1]),
    writes(vaults[0]),
    writes(vaults[1]),
    writes(opened.targetOrders),
    reads(CONFIG),
    writes(FEE_RECEIVER),
    reads(OPEN_BOOK),
    reads(opened.book.market),
    signs(creator),
    writes(userCoin),
    writes(userPc),
    writes(associatedTokenAccount(creator, lpMint, TOKEN))
  ]
  const [initCoinAmount, initPcAmount] = amounts
  const data = ammInitialize2.write({ nonce: 254, openTime, initPcAmount, initCoinAmount })
  script.call(PROGRAM, accounts, data, (call) => {
    call.createMint({ address: lpMint, decimals: decimals[0]!, authority: AUTHORITY })
    call.createTokenAccount(vaults[0], AUTHORITY, sides.mints[0])
    call.createTokenAccount(vaults[1], AUTHORITY, sides.mints[1])
    const lpAccount = call.ensureTokenAccount(creator, lpMint)
    const transfers = new PoolTransfers(call, opened, ledger, false)
    transfers.payIn(0, creator, initCoinAmount)
    transfers.payIn(1, creator, initPcAmount)
    call.mintTo({ mint: lpMint, to: lpAccount, authority: AUTHORITY, amount: opened.lpAmount - locked })
    rayLog(
      call,
      initLog.write({
        time: openTime,
        pcDecimals: decimals[1]!,
        coinDecimals: decimals[0]!,
        pcLot: 1n,
        coinLot: 1n,
        pcAmount: initPcAmount,
        coinAmount: initCoinAmount,
        market: opened.book.market
      })
    )
    writeState(call, opened, ledger)
  })
  return opened
}

function swap(
  script: Caller,
  pool: AmmV4Pool,
  { trader, isBuy, amountIn }: Swap,
  { ledger, random }: VenueWorld
): Executed | null {
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const before = vaultBalances(pool, ledger)
  const fee = ceilDiv(amountIn * FEE.numerator, FEE.denominator)
  const amountOut = productOut(amountIn - fee, before[from], before[to])
  if (amountOut <= 0n || before[from] + amountIn > U64_MAX) return null
  const users = userAccounts(pool, trader, ledger)
  const poolAccounts = [reads(TOKEN), writes(pool.address), reads(AUTHORITY)]
  const vaults = pool.vaults.map(writes)
  const traderAccounts = [writes(users[from]), writes(users[to]), signs(trader)]
  // Since September 2025 the program takes a list without the order book too; both are in use.
  const isShort = random.next() < 0.5
  const orders = [writes(pool.openOrders), writes(pool.targetOrders)]
  const accounts = isShort
    ? [...poolAccounts, ...vaults, ...traderAccounts]
    : [...poolAccounts, ...orders, ...vaults, reads(OPEN_BOOK), ...bookUses(pool.book), ...traderAccounts]
  const data = (isShort ? swapBaseInV2 : swapBaseIn).write({ amountIn, minimumAmountOut: 0n })
  script.call(PROGRAM, accounts, data, (call) => {
    rayLog(
      call,
      swapBaseInLog.write({
        amountIn,
        minimumOut: 0n,
        direction: from === 1 ? 1n : 2n,
        userSource: ledger.tokens(users[from]),
        poolCoin: before[0],
        poolPc: before[1],
        outAmount: amountOut
      })
    )
    const transfers = new PoolTransfers(call, pool, ledger, false)
    transfers.payIn(from, trader, amountIn)
    transfers.payOut(to, trader, AUTHORITY, amountOut)
    writeState(call, pool, ledger)
  })
  return { amountIn, amountOut }
}

function changeLiquidity(
  script: Caller,
  pool: AmmV4Pool,
  by: Pubkey,
  thousandths: number,
  { ledger }: VenueWorld
): void {
  const adds = thousandths > 0
  const lpAccount = ledger.tokenAccountOf(by, pool.lpMint)
  const shares = sharesOf(thousandths, pool.lpAmount, ledger.tokens(lpAccount))
  const before = vaultBalances(pool, ledger)
  const amounts = shareWorth(shares, pool.lpAmount, before, adds ? 'up' : 'down')
  if (!canMove(pool, ledger, by, adds, amounts)) return
  const [userCoin, userPc] = userAccounts(pool, by, ledger)
  if (adds) script.ensureTokenAccount(by, pool.lpMint)
  const { market, coinVault, pcVault, vaultSigner, eventQueue, bids, asks } = pool.book
  const accounts = [
    reads(TOKEN),
    writes(pool.address),
    reads(AUTHORITY),
    writes(pool.openOrders),
    writes(pool.targetOrders),
    writes(pool.lpMint),
    writes(pool.vaults[0]),
    writes(pool.vaults[1])
  ]
  const held = { poolCoin: before[0], poolPc: before[1], poolLp: pool.lpAmount, profitX: 0n, profitY: 0n }
  if (adds) {
    const wish = { maxCoin: amounts[0], maxPc: amounts[1], baseSide: 0n }
    accounts.push(
      reads(market),
      writes(userCoin),
      writes(userPc),
      writes(lpAccount),
      signs(by),
      reads(eventQueue)
    )
    pool.lpAmount += shares
    script.call(PROGRAM, accounts, deposit.write({ ...wish, otherAmountMin: 0n }), (call) => {
      const [deductCoin, deductPc] = amounts
      rayLog(call, depositLog.write({ ...wish, ...held, deductCoin, deductPc, mintLp: shares }))
      const transfers = new PoolTransfers(call, pool, ledger, false)
      transfers.payIn(0, by, deductCoin)
      transfers.payIn(1, by, deductPc)
      call.mintTo({ mint: pool.lpMint, to: lpAccount, authority: AUTHORITY, amount: shares })
      writeState(call, pool, ledger)
    })
    return
  }
  accounts.push(
    reads(OPEN_BOOK),
    writes(market),
    writes(coinVault),
    writes(pcVault),
    reads(vaultSigner),
    writes(lpAccount),
    writes(userCoin),
    writes(userPc),
    signs(by),
    writes(eventQueue),
    writes(bids),
    writes(asks)
  )
  pool.lpAmount -= shares
  script.call(PROGRAM, accounts, withdraw.write({ amount: shares, minCoin: 0n, minPc: 0n }), (call) => {
    const [outCoin, outPc] = amounts
    rayLog(
      call,
      withdrawLog.write({ withdrawLp: shares, userLp: ledger.tokens(lpAccount), ...held, outCoin, outPc })
    )
    const transfers = new PoolTransfers(call, pool, ledger, false)
    transfers.payOut(0, by, AUTHORITY, outCoin)
    transfers.payOut(1, by, AUTHORITY, outPc)
    call.burn({ mint: pool.lpMint, from: lpAccount, authority: by, amount: shares })
    writeState(call, pool, ledger)
  })
}

function rayLog(call: CallScript, entry: Uint8Array): void {
  call.log(`ray_log: ${entry.toBase64()}`)
}

function writeState(call: CallScript, pool: AmmV4Pool, ledger: LedgerView): void {
  const { numerator, denominator } = FEE
  const state = new AccountBytes(752)
    .u64(0, OPEN_STATUS)
    .u64(8, 254n)
    .u64(32, BigInt(ledger.mint(pool.mints[0]).decimals))
    .u64(40, BigInt(ledger.mint(pool.mints[1]).decimals))
    .u64(88, 1n)
    .u64(96, 1n)
    .u64(144, numerator)
    .u64(152, denominator)
    .u64(176, numerator)
    .u64(184, denominator)
    .u64(224, pool.openTime)
    .key(336, pool.vaults[0])
    .key(368, pool.vaults[1])
    .key(400, pool.mints[0])
    .key(432, pool.mints[1])
    .key(464, pool.lpMint)
    .key(496, pool.openOrders)
    .key(528, pool.book.market)
    .key(560, OPEN_BOOK)
    .key(592, pool.targetOrders)
    .key(688, OWNER)
    .u64(720, pool.lpAmount)
  call.write(pool.address, state.bytes)
}
