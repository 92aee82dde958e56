import type { Pubkey } from '../../../chain/pubkey.ts'
import { createPoolEvent, depositEvent, withdrawEvent } from '../../../chain/venues/pumpswap-events.ts'
import { createPool, deposit, withdraw } from '../../../chain/venues/pumpswap-instructions.ts'
import { firstShares, shareWorth, sharesOf } from '../curves/constant-product.ts'
import { associatedTokenAccount, programAddress } from '../program-address.ts'
import { ASSOCIATED_TOKEN, SYSTEM, TOKEN, TOKEN_2022 } from '../../programs.ts'
import type { CallScript } from '../script.ts'
import type { NewPool, VenueWorld } from '../venue.ts'
import { reads, signs, writes } from './account-uses.ts'
import type { Caller } from './pool-sides.ts'
import {
  CREATOR_BPS,
  FEE_RECIPIENT,
  GLOBAL_CONFIG,
  LOCKED_SHARES,
  PUMPSWAP_PROGRAM,
  events,
  programsOf,
  reserves,
  reservesStated,
  tokenAccounts,
  writeState,
  type PumpswapPool
} from './pumpswap-pool.ts'

/** Opens a pool; one of a graduated coin names who launched it. */
export function openPumpswap(
  script: Caller,
  pool: NewPool,
  { ledger }: VenueWorld,
  coinCreator: Pubkey = pool.creator
): PumpswapPool {
  const { creator, base, quote, baseAmount, quoteAmount } = pool
  const index = 0
  const address = programAddress(['pool', new Uint8Array(2), creator, base, quote], PUMPSWAP_PROGRAM)
  const lpMint = programAddress(['pool_lp_mint', address], PUMPSWAP_PROGRAM)
  const lpAccount = associatedTokenAccount(creator, lpMint, TOKEN_2022)
  const shares = firstShares([baseAmount, quoteAmount])
  const opened: PumpswapPool = {
    address,
    mints: [base, quote],
    vaults: [ledger.tokenAccountOf(address, base), ledger.tokenAccountOf(address, quote)],
    creator,
    coinCreator,
    creatorVault: programAddress(['creator_vault', coinCreator], PUMPSWAP_PROGRAM),
    lpMint,
    index,
    lpSupply: shares
  }
  const [userBase, userQuote] = tokenAccounts(opened, creator, ledger)
  const [baseProgram, quoteProgram] = programsOf(opened, ledger)
  const accounts = [
    writes(address),
    reads(GLOBAL_CONFIG),
    signs(creator),
    reads(base),
    reads(quote),
    writes(lpMint),
    writes(userBase),
    writes(userQuote),
    writes(lpAccount),
    writes(opened.vaults[0]),
    writes(opened.vaults[1]),
    reads(SYSTEM),
    reads(TOKEN_2022),
    reads(baseProgram),
    reads(quoteProgram),
    reads(ASSOCIATED_TOKEN),
    reads(events.authority),
    reads(PUMPSWAP_PROGRAM)
  ]
  // The coin's creator stands in a group that was appended later.
  const args = { index, baseAmountIn: baseAmount, quoteAmountIn: quoteAmount, coinCreator }
  const data = createPool.write(args)
  script.call(PUMPSWAP_PROGRAM, accounts, data, (call) => {
    call.log('Instruction: CreatePool')
    call.createMint({ address: lpMint, decimals: 9, authority: address, token2022: true })
    call.ensureTokenAccount(creator, lpMint)
    call.ensureTokenAccount(address, base)
    call.ensureTokenAccount(address, quote)
    const [from, to] = [tokenAccounts(opened, creator, ledger), opened.vaults]
    call.transfer({ mint: base, from: from[0], to: to[0], authority: creator, amount: baseAmount })
    call.transfer({ mint: quote, from: from[1], to: to[1], authority: creator, amount: quoteAmount })
    const lpTokenAmountOut = shares - LOCKED_SHARES
    call.mintTo({ mint: lpMint, to: lpAccount, authority: address, amount: lpTokenAmountOut })
    writeState(call, opened)
    events.state(
      call,
      createPoolEvent.write({
        timestamp: BigInt(call.blockTime),
        index,
        creator,
        baseMint: base,
        quoteMint: quote,
        baseMintDecimals: ledger.mint(base).decimals,
        quoteMintDecimals: ledger.mint(quote).decimals,
        baseAmountIn: baseAmount,
        quoteAmountIn: quoteAmount,
        poolBaseAmount: baseAmount,
        poolQuoteAmount: quoteAmount,
        minimumLiquidity: LOCKED_SHARES,
        initialLiquidity: shares,
        lpTokenAmountOut,
        poolBump: 255,
        pool: address,
        lpMint,
        userBaseTokenAccount: userBase,
        userQuoteTokenAccount: userQuote,
        coinCreator,
        isMayhemMode: false,
        creatorFeeBps: CREATOR_BPS,
        canEditCreatorFee: false,
        isHolderReward: false
      })
    )
  })
  // Where the fees of later trades go; whoever trades first makes these accounts.
  script.ensureTokenAccount(FEE_RECIPIENT, quote)
  script.ensureTokenAccount(opened.creatorVault, quote)
  return opened
}

/** Adds or removes a part of the shares; nothing where the provider lacks what it takes. */
export function changePumpswapLiquidity(
  script: Caller,
  pool: PumpswapPool,
  by: Pubkey,
  thousandths: number,
  { ledger }: VenueWorld
): void {
  const adds = thousandths > 0
  const lpAccount = associatedTokenAccount(by, pool.lpMint, TOKEN_2022)
  const held = reserves(pool, ledger)
  const shares = sharesOf(thousandths, pool.lpSupply, ledger.tokens(lpAccount))
  const [baseAmount, quoteAmount] = shareWorth(shares, pool.lpSupply, held, adds ? 'up' : 'down')
  const [userBase, userQuote] = tokenAccounts(pool, by, ledger)
  const [ownBase, ownQuote] = [ledger.tokens(userBase), ledger.tokens(userQuote)]
  if (shares <= 0n || baseAmount <= 0n || quoteAmount <= 0n) return
  if (adds && (baseAmount > ownBase || quoteAmount > ownQuote)) return
  if (adds) script.ensureTokenAccount(by, pool.lpMint)
  const stated = {
    ...reservesStated([ownBase, ownQuote], held),
    pool: pool.address,
    user: by,
    userBaseTokenAccount: userBase,
    userQuoteTokenAccount: userQuote,
    userPoolTokenAccount: lpAccount
  }
  const accounts = [
    writes(pool.address),
    reads(GLOBAL_CONFIG),
    signs(by),
    reads(pool.mints[0]),
    reads(pool.mints[1]),
    writes(pool.lpMint),
    writes(userBase),
    writes(userQuote),
    writes(lpAccount),
    writes(pool.vaults[0]),
    writes(pool.vaults[1]),
    reads(TOKEN),
    reads(TOKEN_2022),
    reads(events.authority),
    reads(PUMPSWAP_PROGRAM)
  ]
  const move = (call: CallScript, side: 0 | 1, amount: bigint): void => {
    const [user, vault] = [side === 0 ? userBase : userQuote, pool.vaults[side]]
    const way = adds
      ? { from: user, to: vault, authority: by }
      : { from: vault, to: user, authority: pool.address }
    call.transfer({ mint: pool.mints[side], ...way, amount })
  }
  const data = adds
    ? deposit.write({ lpTokenAmountOut: shares, maxBaseAmountIn: baseAmount, maxQuoteAmountIn: quoteAmount })
    : withdraw.write({ lpTokenAmountIn: shares, minBaseAmountOut: 0n, minQuoteAmountOut: 0n })
  script.call(PUMPSWAP_PROGRAM, accounts, data, (call) => {
    call.log(`Instruction: ${adds ? 'Deposit' : 'Withdraw'}`)
    move(call, 0, baseAmount)
    move(call, 1, quoteAmount)
    const lp = { mint: pool.lpMint, amount: shares }
    if (adds) call.mintTo({ ...lp, to: lpAccount, authority: pool.address })
    else call.burn({ ...lp, from: lpAccount, authority: by })
    pool.lpSupply += adds ? shares : -shares
    writeState(call, pool)
    const timestamp = BigInt(call.blockTime)
    const lpMintSupply = pool.lpSupply
    const event = adds
      ? depositEvent.write({
          ...stated,
          timestamp,
          lpMintSupply,
          lpTokenAmountOut: shares,
          maxBaseAmountIn: baseAmount,
          maxQuoteAmountIn: quoteAmount,
          baseAmountIn: baseAmount,
          quoteAmountIn: quoteAmount
        })
      : withdrawEvent.write({
          ...stated,
          timestamp,
          lpMintSupply,
          lpTokenAmountIn: shares,
          minBaseAmountOut: 0n,
          minQuoteAmountOut: 0n,
          baseAmountOut: baseAmount,
          quoteAmountOut: quoteAmount
        })
    events.state(call, event)
  })
}
