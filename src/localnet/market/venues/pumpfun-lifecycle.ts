import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import { programAddress } from '../../../signing/program-address.ts'
import { ASSOCIATED_TOKEN, TOKEN_2022 } from '../../programs.ts'
import type { TransactionScript } from '../script.ts'
import type { NewCurve, VenueWorld } from '../venue.ts'
import { key, userAccounts } from './pool-sides.ts'
import {
  CREATOR_BPS,
  DECIMALS,
  MINT_AUTHORITY,
  newCurve,
  PUMPFUN_PROGRAM,
  pumpfun,
  SUPPLY,
  TOKENS_FOR_SALE,
  VIRTUAL_LAMPORTS,
  VIRTUAL_TOKENS,
  writeCurve,
  type PumpfunCurve
} from './pumpfun-curve.ts'
import { openPumpswap } from './pumpswap-liquidity.ts'
import { GLOBAL_CONFIG, PUMPSWAP_PROGRAM, type PumpswapPool } from './pumpswap-pool.ts'

const MAYHEM_PROGRAM = key('MAyhSmzXzV1pTf7LsNkrNwkWKTo4ougAJ1PPg47MD4e')

const createV2 = pumpfun.instruction(
  'CreateV2',
  'd6904cec5f8b31b4',
  'name:string symbol:string uri:string creator:pubkey isMayhemMode?:bool',
  `mint! mintAuthority address* vault* global creator! system token2022 associatedToken mayhem mayhemParams
  mayhemSolVault* mayhemState* mayhemVault* eventAuthority program`
)
const migrate = pumpfun.instruction(
  'Migrate',
  '9beae792ec9ea21e',
  '',
  `global withdrawAuthority* mint address* vault* payer! system token pumpswap pool* authority*
  authorityAccounts* pumpswapConfig nativeMint lpMint* lpAccount* poolAccounts* token2022 associatedToken
  pumpswapEvents eventAuthority program`
)
const createEvent = pumpfun.event(
  '1b72a94ddeeb6376',
  `name:string symbol:string uri:string mint:pubkey bondingCurve:pubkey user:pubkey creator:pubkey
  timestamp:i64 virtualTokenReserves:u64 virtualSolReserves:u64 realTokenReserves:u64 tokenTotalSupply:u64
  tokenProgram:pubkey isMayhemMode?:bool isCashbackEnabled?:bool quoteMint:pubkey virtualQuoteReserves:u64
  creatorFeeBps:u64 isHolderReward?:bool depth?:u8`
)
const migrationEvent = pumpfun.event(
  'bde95db95c94ea94',
  `user:pubkey mint:pubkey mintAmount:u64 solAmount:u64 poolMigrationFee:u64 bondingCurve:pubkey
  timestamp:i64 pool:pubkey quoteMint:pubkey`
)

/** Lamports that a migration keeps for the accounts it creates. */
const MIGRATION_FEE = 15_000_001n

/** Addresses of the program for coins of the mayhem mode, which every launch names. */
const MAYHEM = {
  mayhem: MAYHEM_PROGRAM,
  mayhemParams: programAddress(['global-params'], MAYHEM_PROGRAM),
  mayhemSolVault: programAddress(['sol-vault'], MAYHEM_PROGRAM)
}
/** Accounts that every migration shares. */
const DESTINATION = {
  pumpswap: PUMPSWAP_PROGRAM,
  withdrawAuthority: key('39azUYFWPz3VHgKCf3VChUwbpURdCHRxjWVowf5jUJjg'),
  pumpswapConfig: GLOBAL_CONFIG,
  pumpswapEvents: programAddress(['__event_authority'], PUMPSWAP_PROGRAM),
  nativeMint: NATIVE_MINT
}

/** Launches a coin of Token-2022 with its curve, by `create_v2`. */
export function launchPumpfun(
  script: TransactionScript,
  { creator, name, symbol, uri }: NewCurve,
  { ledger, random }: VenueWorld
): PumpfunCurve {
  const mint = random.bytes(32)
  const address = programAddress(['bonding-curve', mint], PUMPFUN_PROGRAM)
  const vault = programAddress([address, TOKEN_2022, mint], ASSOCIATED_TOKEN)
  const curve = newCurve(mint, creator, () => vault)
  const addresses = {
    ...curve,
    ...MAYHEM,
    mayhemState: programAddress(['mayhem-state', mint], MAYHEM_PROGRAM),
    mayhemVault: programAddress(['mayhem-vault', mint], MAYHEM_PROGRAM)
  }
  const named = { name, symbol, uri, creator }
  createV2.call(script, addresses, named, (call) => {
    call.createMint({ address: mint, decimals: DECIMALS, authority: MINT_AUTHORITY, token2022: true })
    writeCurve(call, curve)
    call.ensureTokenAccount(address, mint)
    call.mintTo({ mint, to: vault, authority: MINT_AUTHORITY, amount: SUPPLY })
    call.dropMintAuthority(mint, MINT_AUTHORITY)
    createEvent.emit(call, {
      ...named,
      mint,
      bondingCurve: address,
      user: creator,
      timestamp: BigInt(call.blockTime),
      virtualTokenReserves: VIRTUAL_TOKENS,
      virtualSolReserves: VIRTUAL_LAMPORTS,
      realTokenReserves: TOKENS_FOR_SALE,
      tokenTotalSupply: SUPPLY,
      tokenProgram: ledger.mint(mint).program,
      quoteMint: NATIVE_MINT,
      virtualQuoteReserves: VIRTUAL_LAMPORTS,
      creatorFeeBps: CREATOR_BPS
    })
  })
  return curve
}

/** Moves the raised lamports and the unsold tokens of a curve to the coin's pool on PumpSwap. */
export function graduatePumpfun(
  script: TransactionScript,
  curve: PumpfunCurve,
  world: VenueWorld
): { readonly venue: 'pumpswap'; readonly pool: PumpswapPool } {
  const { ledger } = world
  const { mint, vault } = curve
  const authority = programAddress(['pool-authority', mint], PUMPFUN_PROGRAM)
  const index = new Uint8Array(2)
  const address = programAddress(['pool', index, authority, mint, NATIVE_MINT], PUMPSWAP_PROGRAM)
  const lpMint = programAddress(['pool_lp_mint', address], PUMPSWAP_PROGRAM)
  const tokens = ledger.tokens(vault)
  const lamports = curve.realLamports - MIGRATION_FEE
  const mints = [mint, NATIVE_MINT] as const
  const addresses = {
    ...curve,
    ...DESTINATION,
    payer: script.payer,
    pool: address,
    authority,
    authorityAccounts: userAccounts({ mints }, authority, ledger),
    lpMint,
    lpAccount: programAddress([authority, TOKEN_2022, lpMint], ASSOCIATED_TOKEN),
    poolAccounts: userAccounts({ mints }, address, ledger)
  }
  let pool: PumpswapPool | null = null
  migrate.call(script, addresses, {}, (call) => {
    const to = call.ensureTokenAccount(authority, mint)
    call.transfer({ mint, from: vault, to, authority: curve.address, amount: tokens })
    call.takeLamports(curve.address, authority, lamports)
    call.takeLamports(curve.address, script.payer, MIGRATION_FEE)
    call.wrap(authority, lamports)
    const amounts = { baseAmount: tokens, quoteAmount: lamports }
    const opening = { creator: authority, base: mint, quote: NATIVE_MINT, ...amounts }
    pool = openPumpswap(call, opening, world, curve.creator)
    const shares = ledger.tokenAccountOf(authority, lpMint)
    call.burn({ mint: lpMint, from: shares, authority, amount: ledger.tokens(shares) })
    Object.assign(curve, { virtualTokens: 0n, virtualLamports: 0n, realLamports: 0n })
    writeCurve(call, curve)
    migrationEvent.emit(call, {
      user: script.payer,
      mint,
      mintAmount: tokens,
      solAmount: lamports,
      poolMigrationFee: MIGRATION_FEE,
      bondingCurve: curve.address,
      timestamp: BigInt(call.blockTime),
      pool: address,
      quoteMint: NATIVE_MINT
    })
  })
  return { venue: 'pumpswap', pool: pool! }
}
