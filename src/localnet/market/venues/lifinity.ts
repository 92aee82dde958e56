import { u64 } from '../../../chain/codec.ts'
import { layout } from '../../../chain/layout.ts'
import type { Pubkey } from '../../../chain/pubkey.ts'
import { firstShares, shareWorth, sharesOf } from '../curves/constant-product.ts'
import { associatedTokenAccount } from '../program-address.ts'
import { TOKEN } from '../../programs.ts'
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
  sideIn,
  startAmounts,
  userAccounts,
  vaultBalances,
  type Caller,
  type PoolSides
} from './pool-sides.ts'

// Source: the vendor's published interface of version 1; accounts and layouts of version 2, whose program this is. A swap
// mints pool tokens to the fee account between its two transfers. How a pool is made is not published: its accounts come with
// its first deposit.

const PROGRAM = key('2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c')

/** Off the oracle's price, in millionths; a tenth of it goes to the fee account. */
const SPREAD = 1000n
const MILLION = 1_000_000n
const PRICE_BITS = 96n
/** The oracle wanders so many millionths at most with each trade, besides following what trades take. */
const WANDERING = 1000

const swapInstruction = layout('swap', 'f8c69e91e17587c8', { amountIn: u64, minimumAmountOut: u64 })
const deposit = layout('depositAllTokenTypes', '205f453c4b4fcdee', {
  poolTokenAmount: u64,
  maximumTokenAAmount: u64,
  maximumTokenBAmount: u64
})
const withdraw = layout('withdrawAllTokenTypes', 'bdfe9caed209a4d8', {
  poolTokenAmount: u64,
  minimumTokenAAmount: u64,
  minimumTokenBAmount: u64
})

export interface LifinityPool extends PoolSides {
  readonly address: Pubkey
  readonly authority: Pubkey
  readonly poolMint: Pubkey
  readonly feeAccount: Pubkey
  readonly oracles: readonly [Pubkey, Pubkey]
  /** Raw quote per raw base, with 96 bits behind the point. */
  oraclePrice: bigint
}

export const lifinityPools = {
  venue: 'lifinity',
  open,
  swap,
  changeLiquidity,
  price: ({ oraclePrice }: LifinityPool): number => Number(oraclePrice) / 2 ** Number(PRICE_BITS)
} satisfies PoolVenue<LifinityPool>

function open(script: Caller, pool: NewPool, world: VenueWorld): LifinityPool {
  const { ledger } = world
  const { creator, baseAmount, quoteAmount } = pool
  const sides = newSides(pool, world, 'as-given')
  const authority = newAddress(world)
  const poolMint = newAddress(world)
  const opened: LifinityPool = {
    ...sides,
    address: newAddress(world),
    authority,
    poolMint,
    feeAccount: newAddress(world),
    oracles: [newAddress(world), newAddress(world)],
    oraclePrice: (quoteAmount << PRICE_BITS) / baseAmount
  }
  const amounts = startAmounts(opened, pool)
  const shares = firstShares(amounts)
  const [poolTokenAmount, maximumTokenAAmount, maximumTokenBAmount] = [shares, ...amounts]
  const data = deposit.write({ poolTokenAmount, maximumTokenAAmount, maximumTokenBAmount })
  const lpAccount = associatedTokenAccount(creator, poolMint, TOKEN)
  script.call(PROGRAM, depositAccounts(opened, creator, lpAccount, ledger), data, (call) => {
    call.log('Instruction: DepositAllTokenTypes')
    call.createMint({ address: poolMint, decimals: 9, authority })
    call.createTokenAccount(opened.vaults[0], authority, opened.mints[0])
    call.createTokenAccount(opened.vaults[1], authority, opened.mints[1])
    call.createTokenAccount(opened.feeAccount, authority, poolMint)
    call.ensureTokenAccount(creator, poolMint)
    const transfers = new PoolTransfers(call, opened, ledger, false)
    transfers.payIn(0, creator, amounts[0])
    transfers.payIn(1, creator, amounts[1])
    call.mintTo({ mint: poolMint, to: lpAccount, authority, amount: shares })
    writeState(call, opened, ledger)
  })
  return opened
}

function swap(
  script: Caller,
  pool: LifinityPool,
  { trader, isBuy, amountIn }: Swap,
  { ledger, random }: VenueWorld
): Executed | null {
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const reserves = vaultBalances(pool, ledger)
  const fair = isBuy
    ? (amountIn << PRICE_BITS) / pool.oraclePrice
    : (amountIn * pool.oraclePrice) >> PRICE_BITS
  const amountOut = (fair * (MILLION - SPREAD)) / MILLION
  // More than a third of what there is no pool gives at one price.
  if (amountOut <= 0n || amountOut * 3n > reserves[to] || reserves[from] + amountIn > U64_MAX) return null
  const { authority, poolMint, feeAccount } = pool
  const supply = ledger.mint(poolMint).supply
  const feeShares = (supply * amountIn * SPREAD) / (20n * MILLION * reserves[from])
  pool.oraclePrice = movedPrice(pool.oraclePrice, isBuy, (amountOut * MILLION) / reserves[to], random.next())
  const users = userAccounts(pool, trader, ledger)
  const accounts = [
    reads(authority),
    writes(pool.address),
    signs(trader),
    writes(users[from]),
    writes(users[to]),
    writes(pool.vaults[from]),
    writes(pool.vaults[to]),
    writes(poolMint),
    writes(feeAccount),
    reads(TOKEN),
    reads(pool.oracles[0]),
    reads(pool.oracles[0]),
    reads(pool.oracles[1])
  ]
  script.call(PROGRAM, accounts, swapInstruction.write({ amountIn, minimumAmountOut: 0n }), (call) => {
    call.log('Instruction: Swap')
    const transfers = new PoolTransfers(call, pool, ledger, false)
    transfers.payIn(from, trader, amountIn)
    if (feeShares > 0n) call.mintTo({ mint: poolMint, to: feeAccount, authority, amount: feeShares })
    transfers.payOut(to, trader, authority, amountOut)
  })
  return { amountIn, amountOut }
}

/** The price after a trade that took so many millionths of the pool: it follows by half of them, and wanders. */
function movedPrice(price: bigint, isBuy: boolean, taken: bigint, chance: number): bigint {
  const wandered = BigInt(Math.round((2 * chance - 1) * WANDERING))
  const moved = (price * (MILLION + (isBuy ? taken : -taken) / 2n + wandered)) / MILLION
  return moved > 0n ? moved : 1n
}

function changeLiquidity(
  script: Caller,
  pool: LifinityPool,
  by: Pubkey,
  thousandths: number,
  { ledger }: VenueWorld
): void {
  const adds = thousandths > 0
  const { poolMint, authority } = pool
  const { supply } = ledger.mint(poolMint)
  if (supply === 0n) return
  const lpAccount = ledger.tokenAccountOf(by, poolMint)
  const shares = sharesOf(thousandths, supply, ledger.tokens(lpAccount))
  const amounts = shareWorth(shares, supply, vaultBalances(pool, ledger), adds ? 'up' : 'down')
  if (!canMove(pool, ledger, by, adds, amounts)) return
  if (adds) script.ensureTokenAccount(by, poolMint)
  const [a, b] = amounts
  const data = adds
    ? deposit.write({ poolTokenAmount: shares, maximumTokenAAmount: a, maximumTokenBAmount: b })
    : withdraw.write({ poolTokenAmount: shares, minimumTokenAAmount: 0n, minimumTokenBAmount: 0n })
  const accounts = adds
    ? depositAccounts(pool, by, lpAccount, ledger)
    : [
        writes(pool.address),
        reads(authority),
        signs(by),
        writes(lpAccount),
        ...pool.vaults.map(writes),
        writes(poolMint),
        ...userAccounts(pool, by, ledger).map(writes),
        reads(TOKEN)
      ]
  script.call(PROGRAM, accounts, data, (call) => {
    call.log(`Instruction: ${adds ? 'DepositAllTokenTypes' : 'WithdrawAllTokenTypes'}`)
    if (!adds) call.burn({ mint: poolMint, from: lpAccount, authority: by, amount: shares })
    const transfers = new PoolTransfers(call, pool, ledger, false)
    for (const side of [0, 1] as const) {
      if (adds) transfers.payIn(side, by, amounts[side])
      else transfers.payOut(side, by, authority, amounts[side])
    }
    if (adds) call.mintTo({ mint: poolMint, to: lpAccount, authority, amount: shares })
  })
}

function depositAccounts(pool: LifinityPool, by: Pubkey, lpAccount: Pubkey, ledger: LedgerView) {
  return [
    writes(pool.address),
    reads(pool.authority),
    signs(by),
    ...userAccounts(pool, by, ledger).map(writes),
    ...pool.vaults.map(writes),
    writes(pool.poolMint),
    writes(lpAccount),
    reads(TOKEN)
  ]
}

/** Says where everything is; how much there is, only the vaults say. */
function writeState(call: CallScript, pool: LifinityPool, ledger: LedgerView): void {
  const state = new AccountBytes(911, '8ff5c8114ad6c487')
    .u8(125, ledger.mint(pool.mints[0]).decimals)
    .key(158, pool.vaults[0])
    .key(190, pool.vaults[1])
    .key(222, pool.poolMint)
    .key(254, pool.mints[0])
    .key(286, pool.mints[1])
    .key(318, pool.feeAccount)
  call.write(pool.address, state.bytes)
}
