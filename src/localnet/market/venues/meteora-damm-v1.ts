import type { Pubkey } from '../../../chain/pubkey.ts'
import {
  ADDS,
  REMOVES,
  addLiquidityEvent,
  initializeCustomizable,
  poolCreatedEvent,
  removeLiquidityEvent,
  swap as swapInstruction,
  swapEvent
} from '../../../chain/venues/meteora-damm-v1-layouts.ts'
import { firstShares, productOut, shareWorth, sharesOf } from '../curves/constant-product.ts'
import { associatedTokenAccount } from '../program-address.ts'
import { ASSOCIATED_TOKEN, RENT_SYSVAR, SYSTEM, TOKEN } from '../../programs.ts'
import type { CallScript } from '../script.ts'
import type { Executed, NewPool, PoolVenue, Swap, VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import { VAULT_PROGRAM, depositInto, openVault, withdrawFrom, type MeteoraVault } from './meteora-vault.ts'
import {
  U64_MAX,
  canMove,
  key,
  newAddress,
  newSides,
  otherSide,
  ratioPrice,
  sideIn,
  startAmounts,
  userAccounts,
  vaultBalances,
  type Caller,
  type PoolSides
} from './pool-sides.ts'

// Source: IDL 0.5.3 of @meteora-ag/dynamic-amm-sdk 1.4.1. Tokens lie in vaults of another program: a swap pays the protocol's
// fee aside, deposits what it was given and withdraws what it gives.

const PROGRAM = key('Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB')
const METADATA_PROGRAM = key('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')

/** Of the input in units of 1e-5, and the protocol's part of that in hundredths. */
const FEE = 250
const PROTOCOL_SHARE = 20n

export interface DammV1Pool extends PoolSides {
  readonly address: Pubkey
  readonly lpMint: Pubkey
  /** `vaults` of the pool are where these keep their tokens. */
  readonly stores: readonly [MeteoraVault, MeteoraVault]
  /** The pool's shares of both; the first account is the authority of both. */
  readonly shares: readonly [Pubkey, Pubkey]
  readonly protocolAccounts: readonly [Pubkey, Pubkey]
}

export const meteoraDammV1Pools = {
  venue: 'meteora-damm-v1',
  open,
  swap,
  changeLiquidity,
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
  const { address, lpMint, vaults, shares, protocolAccounts } = opened
  const amounts = startAmounts(opened, pool)
  const users = userAccounts(opened, creator, ledger)
  const accounts = [
    writes(address),
    writes(lpMint),
    ...mints.map(reads),
    ...stores.map((store) => writes(store.address)),
    ...vaults.map(writes),
    ...stores.map((store) => writes(store.lpMint)),
    ...shares.map(writes),
    ...users.map(writes),
    writes(associatedTokenAccount(creator, lpMint, TOKEN)),
    ...protocolAccounts.map(writes),
    signs(creator),
    reads(RENT_SYSVAR),
    writes(newAddress(world)),
    reads(METADATA_PROGRAM),
    reads(VAULT_PROGRAM),
    reads(TOKEN),
    reads(ASSOCIATED_TOKEN),
    reads(SYSTEM)
  ]
  const data = initializeCustomizable.write({
    tokenAAmount: amounts[0],
    tokenBAmount: amounts[1],
    tradeFeeNumerator: FEE,
    activationPoint: null,
    hasAlphaVault: false,
    activationType: 1,
    padding: new Array<number>(90).fill(0)
  })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: InitializeCustomizablePermissionlessConstantProductPool')
    call.createMint({ address: lpMint, decimals: ledger.mint(mints[0]).decimals, authority: address })
    for (const side of [0, 1] as const) {
      call.createTokenAccount(shares[side], shares[0], stores[side].lpMint)
      call.createTokenAccount(protocolAccounts[side], address, mints[side])
    }
    const lpAccount = call.ensureTokenAccount(creator, lpMint)
    for (const side of [0, 1] as const) {
      const from = { token: users[side], shares: shares[side], authority: creator }
      depositInto(call, stores[side], from, amounts[side], ledger)
    }
    call.mintTo({ mint: lpMint, to: lpAccount, authority: address, amount: firstShares(amounts) })
    const created = { lpMint, tokenAMint: mints[0], tokenBMint: mints[1], poolType: 1, pool: address }
    call.logData(poolCreatedEvent.write(created))
    writeState(call, opened)
  })
  return opened
}

function swap(
  script: Caller,
  pool: DammV1Pool,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const from = sideIn(pool, isBuy)
  const to = otherSide(from)
  const before = vaultBalances(pool, ledger)
  const fee = (amountIn * BigInt(FEE)) / 100_000n
  const protocolFee = (fee * PROTOCOL_SHARE) / 100n
  const amountOut = productOut(amountIn - fee, before[from], before[to])
  if (amountOut <= 0n || before[from] + amountIn > U64_MAX) return null
  const users = userAccounts(pool, trader, ledger)
  const { stores, shares } = pool
  const accounts = [
    writes(pool.address),
    writes(users[from]),
    writes(users[to]),
    ...stores.map((store) => writes(store.address)),
    ...pool.vaults.map(writes),
    ...stores.map((store) => writes(store.lpMint)),
    ...shares.map(writes),
    writes(pool.protocolAccounts[from]),
    signs(trader),
    reads(VAULT_PROGRAM),
    reads(TOKEN)
  ]
  const data = swapInstruction.write({ inAmount: amountIn, minimumOutAmount: 0n })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log('Instruction: Swap')
    if (protocolFee > 0n) {
      call.transfer({
        mint: pool.mints[from],
        from: users[from],
        to: pool.protocolAccounts[from],
        authority: trader,
        amount: protocolFee,
        checked: false
      })
    }
    const payer = { token: users[from], shares: shares[from], authority: trader }
    depositInto(call, stores[from], payer, amountIn - protocolFee, ledger)
    const receiver = { token: users[to], shares: shares[to], authority: shares[0] }
    withdrawFrom(call, stores[to], receiver, amountOut, ledger)
    call.logData(
      swapEvent.write({
        inAmount: amountIn,
        outAmount: amountOut,
        tradeFee: fee - protocolFee,
        protocolFee,
        hostFee: 0n
      })
    )
  })
  return { amountIn, amountOut }
}

function changeLiquidity(
  script: Caller,
  pool: DammV1Pool,
  by: Pubkey,
  thousandths: number,
  { ledger }: VenueWorld
): void {
  const adds = thousandths > 0
  const { lpMint, stores, shares } = pool
  const { supply } = ledger.mint(lpMint)
  if (supply === 0n) return
  const lpAccount = ledger.tokenAccountOf(by, lpMint)
  const lpAmount = sharesOf(thousandths, supply, ledger.tokens(lpAccount))
  const amounts = shareWorth(lpAmount, supply, vaultBalances(pool, ledger), adds ? 'up' : 'down')
  if (!canMove(pool, ledger, by, adds, amounts)) return
  if (adds) script.ensureTokenAccount(by, lpMint)
  const users = userAccounts(pool, by, ledger)
  const accounts = [
    writes(pool.address),
    writes(lpMint),
    writes(lpAccount),
    ...shares.map(writes),
    ...stores.map((store) => writes(store.address)),
    ...stores.map((store) => writes(store.lpMint)),
    ...pool.vaults.map(writes),
    ...users.map(writes),
    signs(by),
    reads(VAULT_PROGRAM),
    reads(TOKEN)
  ]
  const [a, b] = amounts
  const data = adds
    ? ADDS[0].write({ poolTokenAmount: lpAmount, maximumTokenAAmount: a, maximumTokenBAmount: b })
    : REMOVES[0].write({ poolTokenAmount: lpAmount, minimumATokenOut: 0n, minimumBTokenOut: 0n })
  script.call(PROGRAM, accounts, data, (call) => {
    call.log(`Instruction: ${adds ? 'AddBalanceLiquidity' : 'RemoveBalanceLiquidity'}`)
    if (!adds) call.burn({ mint: lpMint, from: lpAccount, authority: by, amount: lpAmount })
    for (const side of [0, 1] as const) {
      const user = { token: users[side], shares: shares[side], authority: adds ? by : shares[0] }
      if (adds) depositInto(call, stores[side], user, amounts[side], ledger)
      else withdrawFrom(call, stores[side], user, amounts[side], ledger)
    }
    if (adds) call.mintTo({ mint: lpMint, to: lpAccount, authority: pool.address, amount: lpAmount })
    call.logData(
      adds
        ? addLiquidityEvent.write({ lpMintAmount: lpAmount, tokenAAmount: a, tokenBAmount: b })
        : removeLiquidityEvent.write({ lpUnmintAmount: lpAmount, tokenAOutAmount: a, tokenBOutAmount: b })
    )
  })
}

/** Says where everything is; how much there is stands in the vaults' accounts. */
function writeState(call: CallScript, pool: DammV1Pool): void {
  const state = new AccountBytes(944, 'f19a6d0411b16dbc')
    .key(8, pool.lpMint)
    .key(40, pool.mints[0])
    .key(72, pool.mints[1])
    .key(104, pool.stores[0].address)
    .key(136, pool.stores[1].address)
    .key(168, pool.shares[0])
    .key(200, pool.shares[1])
    .u8(233, 1)
    .key(234, pool.protocolAccounts[0])
    .key(266, pool.protocolAccounts[1])
    .u8(362, 1)
  call.write(pool.address, state.bytes)
}
