import type { Pubkey } from '../../../chain/pubkey.ts'
import { firstShares, productOut } from '../curves/constant-product.ts'
import { associatedTokenAccount } from '../../../signing/program-address.ts'
import { TOKEN } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { NewPool, PoolVenue, VenueWorld } from '../venue.ts'
import { VAULT_PROGRAM, moveThrough, openVault, type MeteoraVault } from './meteora-vault.ts'
import { moveLpTokens, sharesLiquidity, type SharesChange } from './pool-shares.ts'
import {
  key,
  newAddress,
  newSides,
  poolAddresses,
  ratioPrice,
  startAmounts,
  vaultBalances,
  type Caller,
  type Keys,
  type PoolSides
} from './pool-sides.ts'
import { poolSwap, type SwapRoute, type Swapped } from './pool-swap.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: IDL 0.5.3 of @meteora-ag/dynamic-amm-sdk 1.4.1. Tokens are in vaults of another program: a swap pays the
// protocol's fee directly, deposits its input and withdraws its output.

const program = new Program(key('Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'), 'log', {
  metadataProgram: key('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'),
  vaultProgram: VAULT_PROGRAM
})
const initialize = program.instruction(
  'InitializeCustomizablePermissionlessConstantProductPool',
  '9118acc2db7d03be',
  `tokenAAmount:u64 tokenBAmount:u64 tradeFeeNumerator:u32 activationPoint?:option<u64> hasAlphaVault?:bool
  activationType:u8 padding?:u8[90]`,
  `pool* lpMint* mints stores* vaults* storeMints* shares* users* lpAccount* protocolAccounts* creator! rent
  metadata* metadataProgram vaultProgram token associatedToken system`
)
const swapInstruction = program.instruction(
  'Swap',
  'f8c69e91e17587c8',
  'inAmount:u64 minimumOutAmount?:u64',
  `pool* userIn* userOut* stores* vaults* storeMints* shares* protocolAccount* trader! vaultProgram token`
)
const LIQUIDITY_ACCOUNTS =
  'pool* lpMint* lpAccount* shares* stores* storeMints* vaults* users* provider! vaultProgram token'
const addBalanceLiquidity = program.instruction(
  'AddBalanceLiquidity',
  'a8e3323ebdab54b0',
  'poolTokenAmount:u64 maximumTokenAAmount:u64 maximumTokenBAmount:u64',
  LIQUIDITY_ACCOUNTS
)
const removeBalanceLiquidity = program.instruction(
  'RemoveBalanceLiquidity',
  '856d2cb338ee7221',
  'poolTokenAmount:u64 minimumATokenOut?:u64 minimumBTokenOut?:u64',
  LIQUIDITY_ACCOUNTS
)
const poolCreatedEvent = program.event(
  'ca2c295868dc9d52',
  'lpMint:pubkey tokenAMint:pubkey tokenBMint:pubkey poolType:u8 pool:pubkey'
)
const swapEvent = program.event(
  '516ce3becdd00ac4',
  'inAmount:u64 outAmount:u64 tradeFee:u64 protocolFee:u64 hostFee?:u64'
)
const MOVED = 'lpAmount:u64 tokenAAmount:u64 tokenBAmount:u64'
const addLiquidityEvent = program.event('1f5e7d5ae3343dba', MOVED)
const removeLiquidityEvent = program.event('74f461e8671f983a', MOVED)

const poolAccount = account(
  944,
  'f19a6d0411b16dbc',
  `lpMint:pubkey@8 mints:pubkey[2]@40 stores:pubkey[2]@104 shares:pubkey[2]@168 enabled:bool@233
  protocolAccounts:pubkey[2]@234 poolType:u8@362`
)

/** Fee on the input in units of 1e-5, and the protocol's share of it in hundredths. */
const FEE = 250
const PROTOCOL_SHARE = 20n

export interface DammV1Pool extends PoolSides {
  readonly address: Pubkey
  readonly lpMint: Pubkey
  /** The vaults' accounts; their token accounts are the `vaults` of the pool. */
  readonly stores: readonly [MeteoraVault, MeteoraVault]
  /** The pool's share accounts in both vaults; the first one is the authority of both. */
  readonly shares: Keys
  readonly protocolAccounts: Keys
}

export const meteoraDammV1Pools = {
  venue: 'meteora-damm-v1',
  open,
  swap: poolSwap(quoteSwap, writeSwap),
  changeLiquidity: sharesLiquidity<DammV1Pool>({ lpMint: ({ lpMint }) => lpMint, write: writeLiquidity }),
  price: (pool: DammV1Pool, { ledger }: VenueWorld): number => ratioPrice(pool, vaultBalances(pool, ledger))
} satisfies PoolVenue<DammV1Pool>

function open(script: Caller, pool: NewPool, world: VenueWorld): DammV1Pool {
  const { ledger } = world
  const { creator } = pool
  const sides = newSides(pool, world, 'as-given')
  const { mints, baseSide } = sides
  const stores = [
    openVault(script, creator, mints[0], world),
    openVault(script, creator, mints[1], world)
  ] as const
  const opened: DammV1Pool = {
    mints,
    baseSide,
    vaults: [stores[0].tokenVault, stores[1].tokenVault],
    address: newAddress(world),
    lpMint: newAddress(world),
    stores,
    shares: [newAddress(world), newAddress(world)],
    protocolAccounts: [newAddress(world), newAddress(world)]
  }
  const { address, lpMint, shares, protocolAccounts } = opened
  const amounts = startAmounts(opened, pool)
  const lpAccount = associatedTokenAccount(creator, lpMint, TOKEN)
  const metadata = newAddress(world)
  const addresses = {
    ...poolAddresses(opened, creator, ledger),
    ...addressesOf(opened),
    creator,
    lpAccount,
    metadata
  }
  const { users } = addresses
  const args = {
    tokenAAmount: amounts[0],
    tokenBAmount: amounts[1],
    tradeFeeNumerator: FEE,
    activationType: 1
  }
  initialize.call(script, addresses, args, (call) => {
    call.createMint({ address: lpMint, decimals: ledger.mint(mints[0]).decimals, authority: address })
    for (const side of [0, 1] as const) {
      call.createTokenAccount(shares[side], shares[0], stores[side].lpMint)
      call.createTokenAccount(protocolAccounts[side], address, mints[side])
    }
    call.ensureTokenAccount(creator, lpMint)
    for (const side of [0, 1] as const) {
      const from = { userToken: users[side], userShares: shares[side], authority: creator }
      moveThrough(call, 'in', stores[side], from, amounts[side], ledger)
    }
    call.mintTo({ mint: lpMint, to: lpAccount, authority: address, amount: firstShares(amounts) })
    poolCreatedEvent.emit(call, {
      lpMint,
      tokenAMint: mints[0],
      tokenBMint: mints[1],
      poolType: 1,
      pool: address
    })
    writeState(call, opened)
  })
  return opened
}

function quoteSwap(pool: DammV1Pool, { from, to }: SwapRoute, amountIn: bigint, { ledger }: VenueWorld) {
  const before = vaultBalances(pool, ledger)
  const fee = (amountIn * BigInt(FEE)) / 100_000n
  return { amountOut: productOut(amountIn - fee, before[from], before[to]), fee }
}

function writeSwap(
  script: Caller,
  pool: DammV1Pool,
  route: SwapRoute,
  { amountIn, amountOut, fee }: Swapped<typeof quoteSwap>,
  { ledger }: VenueWorld
): void {
  const { from, to, trader, mintIn: mint, userIn, userOut } = route
  const { stores, shares } = pool
  const protocolAccount = pool.protocolAccounts[from]
  const protocolFee = (fee * PROTOCOL_SHARE) / 100n
  const addresses = { ...pool, ...route, ...addressesOf(pool), protocolAccount }
  swapInstruction.call(script, addresses, { inAmount: amountIn }, (call) => {
    if (protocolFee > 0n) {
      const kept = { mint, from: userIn, to: protocolAccount, amount: protocolFee }
      call.transfer({ ...kept, authority: trader, checked: false })
    }
    const payer = { userToken: userIn, userShares: shares[from], authority: trader }
    moveThrough(call, 'in', stores[from], payer, amountIn - protocolFee, ledger)
    const receiver = { userToken: userOut, userShares: shares[to], authority: shares[0] }
    moveThrough(call, 'out', stores[to], receiver, amountOut, ledger)
    swapEvent.emit(call, {
      inAmount: amountIn,
      outAmount: amountOut,
      tradeFee: fee - protocolFee,
      protocolFee
    })
  })
}

function writeLiquidity(script: Caller, pool: DammV1Pool, change: SharesChange, ledger: LedgerView): void {
  const { stores, shares } = pool
  const { adds, provider, users, amounts, shares: lpAmount } = change
  const [tokenAAmount, tokenBAmount] = amounts
  const addresses = { ...change, ...addressesOf(pool) }
  const body = (call: CallScript): void => {
    if (!adds) moveLpTokens(call, change, pool.address)
    for (const side of [0, 1] as const) {
      const authority = adds ? provider : shares[0]
      const user = { userToken: users[side], userShares: shares[side], authority }
      moveThrough(call, adds ? 'in' : 'out', stores[side], user, amounts[side], ledger)
    }
    if (adds) moveLpTokens(call, change, pool.address)
    const event = adds ? addLiquidityEvent : removeLiquidityEvent
    event.emit(call, { lpAmount, tokenAAmount, tokenBAmount })
  }
  if (!adds) return removeBalanceLiquidity.call(script, addresses, { poolTokenAmount: lpAmount }, body)
  const most = { maximumTokenAAmount: tokenAAmount, maximumTokenBAmount: tokenBAmount }
  addBalanceLiquidity.call(script, addresses, { poolTokenAmount: lpAmount, ...most }, body)
}

/** Returns the pool's accounts in the vault program, by their names in account lists. */
function addressesOf(pool: DammV1Pool) {
  const [a, b] = pool.stores
  return { shares: pool.shares, stores: [a.address, b.address], storeMints: [a.lpMint, b.lpMint] }
}

/** Writes the pool's account: its addresses, without amounts, which the vaults' accounts have. */
function writeState(call: CallScript, pool: DammV1Pool): void {
  call.write(pool.address, poolAccount({ ...pool, ...addressesOf(pool), enabled: true, poolType: 1 }))
}
