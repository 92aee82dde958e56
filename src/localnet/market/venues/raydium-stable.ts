import { u64, u8 } from '../../../chain/codec.ts'
import { layout } from '../../../chain/layout.ts'
import type { Pubkey } from '../../../chain/pubkey.ts'
import { firstShares, shareWorth, sharesOf } from '../curves/constant-product.ts'
import { ceilDiv } from '../curves/integers.ts'
import { stableOut, stablePrice } from '../curves/stable-swap.ts'
import { RENT_SYSVAR, SYSTEM, TOKEN } from '../../programs.ts'
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
  sideIn,
  startAmounts,
  timeOf,
  userAccounts,
  vaultBalances,
  type Caller,
  type Pair,
  type PoolSides,
  type Side
} from './pool-sides.ts'

// Source: raydium-sdk-v2, version-5 pools. The program is closed, its curve a table: here it is Curve's, flat around the price
// that the pool was opened with.

const PROGRAM = key('5quBtoiQqxF9Jv6KYKctB59NT3gtJD2Y65kdnB1Uev3h')
const AUTHORITY = key('3uaZBfHPfmpAHW7dsimC1SnyR61X4bJqQZKWmRSCXJxv')
const MODEL_DATA = key('CDSr3ssLcRB6XYPJwAfFt18MZvEZp4LjHcvzBVZ45duo')
const OWNER = key('GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ')

/** Of the input, which stays in the pool whole. */
const FEE = { numerator: 4n, denominator: 10_000n }

const preInitialize = layout('preInitialize', '0a', { nonce: u8 })
const initialize = layout('initialize', '00', { nonce: u8, openTime: u64 })
const deposit = layout('deposit', '03', { maxCoin: u64, maxPc: u64, baseSide: u64 })
const withdraw = layout('withdraw', '04', { amount: u64 })
const swapBaseIn = layout('swapBaseIn', '09', { amountIn: u64, minimumAmountOut: u64 })

export interface StablePool extends PoolSides {
  readonly address: Pubkey
  readonly lpMint: Pubkey
  readonly openOrders: Pubkey
  readonly targetOrders: Pubkey
  readonly book: OrderBook
  /** What a raw unit of each side counts for: at the first price both count the same. */
  readonly weights: Pair
}

export const raydiumStablePools = {
  venue: 'raydium-stable',
  open,
  swap,
  changeLiquidity,
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
  const { address, lpMint, mints, vaults } = opened
  const made = [reads(AUTHORITY), writes(opened.openOrders), writes(lpMint)]
  const held = [...mints.map(reads), ...vaults.map(writes)]
  const before = [reads(TOKEN), reads(SYSTEM), reads(RENT_SYSVAR), ...made, ...held, signs(creator)]
  script.call(PROGRAM, before, preInitialize.write({ nonce: 255 }), (call) => {
    call.createMint({ address: lpMint, decimals: ledger.mint(mints[0]).decimals, authority: AUTHORITY })
    call.createTokenAccount(vaults[0], AUTHORITY, mints[0])
    call.createTokenAccount(vaults[1], AUTHORITY, mints[1])
  })
  script.ensureTokenAccount(creator, lpMint)
  const lpAccount = ledger.tokenAccountOf(creator, lpMint)
  const users = userAccounts(opened, creator, ledger)
  const accounts = [
    reads(TOKEN),
    writes(address),
    ...made,
    ...held,
    writes(opened.targetOrders),
    reads(MODEL_DATA),
    reads(OPEN_BOOK),
    reads(opened.book.market),
    ...users.map(writes),
    writes(lpAccount),
    signs(creator)
  ]
  const data = initialize.write({ nonce: 255, openTime: timeOf(script) })
  script.call(PROGRAM, accounts, data, (call) => {
    const transfers = new PoolTransfers(call, opened, ledger, false)
    transfers.payIn(0, creator, amounts[0])
    transfers.payIn(1, creator, amounts[1])
    call.mintTo({ mint: lpMint, to: lpAccount, authority: AUTHORITY, amount: firstShares(amounts) })
    writeState(call, opened, ledger)
  })
  return opened
}

function swap(
  script: Caller,
  pool: StablePool,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const amountOut = quoteOf(pool, from, amountIn, ledger)
  if (amountOut <= 0n || vaultBalances(pool, ledger)[from] + amountIn > U64_MAX) return null
  const users = userAccounts(pool, trader, ledger)
  const accounts = [
    reads(TOKEN),
    writes(pool.address),
    reads(AUTHORITY),
    writes(pool.openOrders),
    ...pool.vaults.map(writes),
    reads(MODEL_DATA),
    reads(OPEN_BOOK),
    ...bookUses(pool.book),
    writes(users[from]),
    writes(users[to]),
    signs(trader)
  ]
  script.call(PROGRAM, accounts, swapBaseIn.write({ amountIn, minimumAmountOut: 0n }), (call) => {
    const transfers = new PoolTransfers(call, pool, ledger, false)
    transfers.payIn(from, trader, amountIn)
    transfers.payOut(to, trader, AUTHORITY, amountOut)
  })
  return { amountIn, amountOut }
}

function quoteOf(pool: StablePool, from: Side, amountIn: bigint, ledger: LedgerView): bigint {
  const to = otherSide(from)
  const weighed = weighedReserves(pool, ledger)
  if (weighed[0] === 0n || weighed[1] === 0n) return 0n
  const input = amountIn - ceilDiv(amountIn * FEE.numerator, FEE.denominator)
  return stableOut(input * pool.weights[from], weighed[from], weighed[to]) / pool.weights[to]
}

function weighedReserves(pool: StablePool, ledger: LedgerView): Pair {
  const [coin, pc] = vaultBalances(pool, ledger)
  return [coin * pool.weights[0], pc * pool.weights[1]]
}

function changeLiquidity(
  script: Caller,
  pool: StablePool,
  by: Pubkey,
  thousandths: number,
  { ledger }: VenueWorld
): void {
  const adds = thousandths > 0
  const { lpMint, book } = pool
  const { supply } = ledger.mint(lpMint)
  if (supply === 0n) return
  const lpAccount = ledger.tokenAccountOf(by, lpMint)
  const shares = sharesOf(thousandths, supply, ledger.tokens(lpAccount))
  const amounts = shareWorth(shares, supply, vaultBalances(pool, ledger), adds ? 'up' : 'down')
  if (!canMove(pool, ledger, by, adds, amounts)) return
  if (adds) script.ensureTokenAccount(by, lpMint)
  const users = userAccounts(pool, by, ledger).map(writes)
  const shared = [
    reads(TOKEN),
    writes(pool.address),
    reads(AUTHORITY),
    writes(pool.openOrders),
    writes(pool.targetOrders),
    writes(lpMint),
    ...pool.vaults.map(writes),
    reads(MODEL_DATA)
  ]
  if (adds) {
    const accounts = [...shared, reads(book.market), ...users, writes(lpAccount), signs(by)]
    const data = deposit.write({ maxCoin: amounts[0], maxPc: amounts[1], baseSide: 0n })
    script.call(PROGRAM, accounts, data, (call) => {
      const transfers = new PoolTransfers(call, pool, ledger, false)
      transfers.payIn(0, by, amounts[0])
      transfers.payIn(1, by, amounts[1])
      call.mintTo({ mint: lpMint, to: lpAccount, authority: AUTHORITY, amount: shares })
    })
    return
  }
  const accounts = [
    ...shared,
    reads(OPEN_BOOK),
    ...[book.market, book.coinVault, book.pcVault].map(writes),
    reads(book.vaultSigner),
    writes(lpAccount),
    ...users,
    signs(by),
    ...[book.eventQueue, book.bids, book.asks].map(writes)
  ]
  script.call(PROGRAM, accounts, withdraw.write({ amount: shares }), (call) => {
    const transfers = new PoolTransfers(call, pool, ledger, false)
    transfers.payOut(0, by, AUTHORITY, amounts[0])
    transfers.payOut(1, by, AUTHORITY, amounts[1])
    call.burn({ mint: lpMint, from: lpAccount, authority: by, amount: shares })
  })
}

/** Says where everything is; how much there is, only the vaults say. */
function writeState(call: CallScript, pool: StablePool, ledger: LedgerView): void {
  const state = new AccountBytes(1232)
    .u64(40, BigInt(ledger.mint(pool.mints[0]).decimals))
    .u64(48, BigInt(ledger.mint(pool.mints[1]).decimals))
    .key(368, pool.vaults[0])
    .key(400, pool.vaults[1])
    .key(432, pool.mints[0])
    .key(464, pool.mints[1])
    .key(496, pool.lpMint)
    .key(528, MODEL_DATA)
    .key(560, pool.openOrders)
    .key(592, pool.book.market)
    .key(624, OPEN_BOOK)
    .key(656, pool.targetOrders)
    .key(688, OWNER)
  call.write(pool.address, state.bytes)
}
