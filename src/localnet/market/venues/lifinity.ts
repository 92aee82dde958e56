import type { Pubkey } from '../../../chain/pubkey.ts'
import { firstShares } from '../curves/constant-product.ts'
import { associatedTokenAccount } from '../../../signing/program-address.ts'
import { TOKEN } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import { moveShares, sharesLiquidity, type SharesChange } from './pool-shares.ts'
import {
  createVaults,
  key,
  moveBoth,
  newAddress,
  newSides,
  poolAddresses,
  startAmounts,
  vaultBalances,
  type Caller,
  type PoolSides
} from './pool-sides.ts'
import { payIn, payOut, poolSwap, type SwapRoute, type Swapped } from './pool-swap.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: the vendor's published interface of version 1; accounts and layouts of version 2, which this program is. A
// swap mints pool tokens to the fee account between its two transfers. The creation of a pool is not published: its
// accounts come with its first deposit.

const program = new Program(key('2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c'), 'log', {})
const swapInstruction = program.instruction(
  'Swap',
  'f8c69e91e17587c8',
  'amountIn:u64 minimumAmountOut?:u64',
  `authority pool* trader! userIn* userOut* vaultIn* vaultOut* poolMint* feeAccount* token firstOracle oracles`
)
const deposit = program.instruction(
  'DepositAllTokenTypes',
  '205f453c4b4fcdee',
  'poolTokenAmount:u64 maximumTokenAAmount:u64 maximumTokenBAmount:u64',
  'pool* authority provider! users* vaults* poolMint* lpAccount* token'
)
const withdraw = program.instruction(
  'WithdrawAllTokenTypes',
  'bdfe9caed209a4d8',
  'poolTokenAmount:u64 minimumTokenAAmount?:u64 minimumTokenBAmount?:u64',
  'pool* authority provider! lpAccount* vaults* poolMint* users* token'
)

const poolAccount = account(
  911,
  '8ff5c8114ad6c487',
  `decimals:u8@125 vaults:pubkey[2]@158 poolMint:pubkey@222 mints:pubkey[2]@254 feeAccount:pubkey@318`
)

/** Distance from the oracle's price in millionths; a tenth of it goes to the fee account. */
const SPREAD = 1000n
const MILLION = 1_000_000n
const PRICE_BITS = 96n
/** Maximum move of the oracle with each trade in millionths, in addition to following the trades. */
const WANDERING = 300

export interface LifinityPool extends PoolSides {
  readonly address: Pubkey
  readonly authority: Pubkey
  readonly poolMint: Pubkey
  readonly feeAccount: Pubkey
  readonly oracles: readonly [Pubkey, Pubkey]
  /** Raw quote per raw base, with 96 fractional bits. */
  oraclePrice: bigint
}

export const lifinityPools = {
  venue: 'lifinity',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity: sharesLiquidity<LifinityPool>({
    lpMint: ({ poolMint }) => poolMint,
    write: writeLiquidity
  }),
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
  const [maximumTokenAAmount, maximumTokenBAmount] = amounts
  const lpAccount = associatedTokenAccount(creator, poolMint, TOKEN)
  const addresses = { ...poolAddresses(opened, creator, ledger), provider: creator, lpAccount }
  const args = { poolTokenAmount: shares, maximumTokenAAmount, maximumTokenBAmount }
  deposit.call(script, addresses, args, (call) => {
    call.createMint({ address: poolMint, decimals: 9, authority })
    createVaults(call, opened, authority)
    call.createTokenAccount(opened.feeAccount, authority, poolMint)
    call.ensureTokenAccount(creator, poolMint)
    moveBoth(call, addresses, 'in', creator, amounts, false)
    call.mintTo({ mint: poolMint, to: lpAccount, authority, amount: shares })
    writeState(call, opened, ledger)
  })
  return opened
}

function quoteSwap(pool: LifinityPool, { from, to }: SwapRoute, amountIn: bigint, { ledger }: VenueWorld) {
  const reserves = vaultBalances(pool, ledger)
  const isBuy = to === pool.baseSide
  const fair = isBuy
    ? (amountIn << PRICE_BITS) / pool.oraclePrice
    : (amountIn * pool.oraclePrice) >> PRICE_BITS
  const amountOut = (fair * (MILLION - SPREAD)) / MILLION
  // A pool does not sell more than a third of a reserve at one price.
  if (amountOut * 3n > reserves[to]) return null
  return { amountOut, isBuy, reserveIn: reserves[from], reserveOut: reserves[to] }
}

function writeSwap(
  script: Caller,
  pool: LifinityPool,
  route: SwapRoute,
  swapped: Swapped<typeof quoteSwap>,
  { ledger, random }: VenueWorld
): void {
  const { amountIn, amountOut, isBuy, reserveIn, reserveOut } = swapped
  const { authority, poolMint, feeAccount, oracles } = pool
  const supply = ledger.mint(poolMint).supply
  const feeShares = (supply * amountIn * SPREAD) / (20n * MILLION * reserveIn)
  pool.oraclePrice = movedPrice(pool.oraclePrice, isBuy, (amountOut * MILLION) / reserveOut, random.next())
  swapInstruction.call(script, { ...pool, ...route, firstOracle: oracles[0] }, { amountIn }, (call) => {
    payIn(call, route, amountIn, false)
    if (feeShares > 0n) call.mintTo({ mint: poolMint, to: feeAccount, authority, amount: feeShares })
    payOut(call, route, authority, amountOut, false)
  })
}

/** Returns the price after a trade of `taken` millionths of the pool: it moves by half of them, and wanders. */
function movedPrice(price: bigint, isBuy: boolean, taken: bigint, chance: number): bigint {
  const wandered = BigInt(Math.round((2 * chance - 1) * WANDERING))
  const moved = (price * (MILLION + (isBuy ? taken : -taken) / 2n + wandered)) / MILLION
  return moved > 0n ? moved : 1n
}

function writeLiquidity(script: Caller, pool: LifinityPool, change: SharesChange): void {
  const { adds, shares: poolTokenAmount, amounts } = change
  const [maximumTokenAAmount, maximumTokenBAmount] = amounts
  const addresses = { ...pool, ...change }
  const body = (call: CallScript): void => moveShares(call, change, pool.authority, 'first', false)
  if (!adds) return withdraw.call(script, addresses, { poolTokenAmount }, body)
  deposit.call(script, addresses, { poolTokenAmount, maximumTokenAAmount, maximumTokenBAmount }, body)
}

/** Writes the pool's account: its addresses, without amounts, which only the vaults have. */
function writeState(call: CallScript, pool: LifinityPool, ledger: LedgerView): void {
  const { decimals } = ledger.mint(pool.mints[0])
  call.write(pool.address, poolAccount({ ...pool, decimals }))
}
