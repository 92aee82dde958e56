import type { Pubkey } from '../../../chain/pubkey.ts'
import { firstShares } from '../curves/constant-product.ts'
import { associatedTokenAccount, programAddress } from '../../../signing/program-address.ts'
import { TOKEN_2022 } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { NewPool, VenueWorld } from '../venue.ts'
import { moveShares, sharesLiquidity, type SharesChange } from './pool-shares.ts'
import { moveBoth, poolAddresses, type Caller } from './pool-sides.ts'
import {
  CREATOR_BPS,
  FEE_RECIPIENT,
  LOCKED_SHARES,
  PUMPSWAP_PROGRAM,
  RESERVES,
  pumpswap,
  reservesStated,
  writeState,
  type PumpswapPool
} from './pumpswap-pool.ts'

// The coin's creator is in a group of arguments that was appended later.
const createPool = pumpswap.instruction(
  'CreatePool',
  'e992d18ecf6840bc',
  'index:u16 baseAmountIn:u64 quoteAmountIn:u64 coinCreator:pubkey',
  `pool* globalConfig creator! mints lpMint* users* lpAccount* vaults* system token2022 programs
  associatedToken eventAuthority program`
)
const LIQUIDITY_ACCOUNTS = `pool* globalConfig provider! mints lpMint* users* lpAccount* vaults* token
  token2022 eventAuthority program`
const deposit = pumpswap.instruction(
  'Deposit',
  'f223c68952e1f2b6',
  'lpTokenAmountOut:u64 maxBaseAmountIn:u64 maxQuoteAmountIn:u64',
  LIQUIDITY_ACCOUNTS
)
const withdraw = pumpswap.instruction(
  'Withdraw',
  'b712469c946da122',
  'lpTokenAmountIn:u64 minBaseAmountOut?:u64 minQuoteAmountOut?:u64',
  LIQUIDITY_ACCOUNTS
)
const createPoolEvent = pumpswap.event(
  'b1310cd2a076a774',
  `timestamp:i64 index:u16 creator:pubkey baseMint:pubkey quoteMint:pubkey baseMintDecimals:u8
  quoteMintDecimals:u8 baseAmountIn:u64 quoteAmountIn:u64 poolBaseAmount:u64 poolQuoteAmount:u64
  minimumLiquidity:u64 initialLiquidity:u64 lpTokenAmountOut:u64 poolBump:u8 pool:pubkey lpMint:pubkey
  userBaseTokenAccount:pubkey userQuoteTokenAccount:pubkey coinCreator:pubkey isMayhemMode?:bool
  creatorFeeBps:u64 canEditCreatorFee?:bool isHolderReward?:bool`
)
const PARTIES = `lpMintSupply:u64 pool:pubkey user:pubkey userBaseTokenAccount:pubkey
  userQuoteTokenAccount:pubkey userPoolTokenAccount:pubkey`
const depositEvent = pumpswap.event(
  '78f83d531f8e6b90',
  `timestamp:i64 lpTokenAmountOut:u64 maxBaseAmountIn:u64 maxQuoteAmountIn:u64 ${RESERVES} baseAmountIn:u64
  quoteAmountIn:u64 ${PARTIES}`
)
const withdrawEvent = pumpswap.event(
  '1609851aa02c47c0',
  `timestamp:i64 lpTokenAmountIn:u64 minBaseAmountOut?:u64 minQuoteAmountOut?:u64 ${RESERVES}
  baseAmountOut:u64 quoteAmountOut:u64 ${PARTIES}`
)

/** Opens a pool; for a graduated coin, `coinCreator` launched it. */
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
  const addresses = { ...poolAddresses(opened, creator, ledger), lpAccount }
  const args = { index, baseAmountIn: baseAmount, quoteAmountIn: quoteAmount, coinCreator }
  createPool.call(script, addresses, args, (call) => {
    call.createMint({ address: lpMint, decimals: 9, authority: address, token2022: true })
    call.ensureTokenAccount(creator, lpMint)
    call.ensureTokenAccount(address, base)
    call.ensureTokenAccount(address, quote)
    moveBoth(call, addresses, 'in', creator, [baseAmount, quoteAmount])
    const lpTokenAmountOut = shares - LOCKED_SHARES
    call.mintTo({ mint: lpMint, to: lpAccount, authority: address, amount: lpTokenAmountOut })
    writeState(call, opened)
    createPoolEvent.emit(call, {
      ...args,
      timestamp: BigInt(call.blockTime),
      creator,
      baseMint: base,
      quoteMint: quote,
      baseMintDecimals: ledger.mint(base).decimals,
      quoteMintDecimals: ledger.mint(quote).decimals,
      poolBaseAmount: baseAmount,
      poolQuoteAmount: quoteAmount,
      minimumLiquidity: LOCKED_SHARES,
      initialLiquidity: shares,
      lpTokenAmountOut,
      poolBump: 255,
      pool: address,
      lpMint,
      userBaseTokenAccount: addresses.users[0],
      userQuoteTokenAccount: addresses.users[1],
      creatorFeeBps: CREATOR_BPS
    })
  })
  // Accounts that receive the fees of later trades; on mainnet the first trader creates them.
  script.ensureTokenAccount(FEE_RECIPIENT, quote)
  script.ensureTokenAccount(opened.creatorVault, quote)
  return opened
}

/** Adds or removes a fraction of the shares; does nothing if the provider lacks the funds. */
export const changePumpswapLiquidity = sharesLiquidity<PumpswapPool>({
  lpMint: ({ lpMint }) => lpMint,
  supply: ({ lpSupply }) => lpSupply,
  write: writeLiquidity
})

function writeLiquidity(script: Caller, pool: PumpswapPool, change: SharesChange, ledger: LedgerView): void {
  const { adds, shares, amounts, reserves, provider, users, lpAccount } = change
  const [base, quote] = amounts
  const owned = [ledger.tokens(users[0]), ledger.tokens(users[1])] as const
  const most = { lpTokenAmountOut: shares, maxBaseAmountIn: base, maxQuoteAmountIn: quote }
  const body = (call: CallScript): void => {
    moveShares(call, change, pool.address, 'last')
    pool.lpSupply += adds ? shares : -shares
    writeState(call, pool)
    const stated = {
      ...reservesStated(owned, reserves),
      timestamp: BigInt(call.blockTime),
      lpMintSupply: pool.lpSupply,
      pool: pool.address,
      user: provider,
      userBaseTokenAccount: users[0],
      userQuoteTokenAccount: users[1],
      userPoolTokenAccount: lpAccount
    }
    if (adds) depositEvent.emit(call, { ...stated, ...most, baseAmountIn: base, quoteAmountIn: quote })
    else {
      const taken = { lpTokenAmountIn: shares, baseAmountOut: base, quoteAmountOut: quote }
      withdrawEvent.emit(call, { ...stated, ...taken })
    }
  }
  if (adds) deposit.call(script, change, most, body)
  else withdraw.call(script, change, { lpTokenAmountIn: shares }, body)
}
