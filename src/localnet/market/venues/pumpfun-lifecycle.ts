import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import { createEvent, migrationEvent } from '../../../chain/venues/pumpfun-events.ts'
import { createV2 } from '../../../chain/venues/pumpfun-instructions.ts'
import { programAddress } from '../program-address.ts'
import { ASSOCIATED_TOKEN, SYSTEM, TOKEN, TOKEN_2022 } from '../../programs.ts'
import type { TransactionScript } from '../script.ts'
import type { NewCurve, VenueWorld } from '../venue.ts'
import { reads, signs, writes } from './account-uses.ts'
import { key } from './pool-sides.ts'
import {
  CREATOR_BPS,
  DECIMALS,
  newCurve,
  PUMPFUN_GLOBAL,
  PUMPFUN_PROGRAM,
  pumpfunEvents,
  SUPPLY,
  TOKENS_FOR_SALE,
  VIRTUAL_LAMPORTS,
  VIRTUAL_TOKENS,
  writeCurve,
  type PumpfunCurve
} from './pumpfun-curve.ts'
import { openPumpswap } from './pumpswap-liquidity.ts'
import { PUMPSWAP_PROGRAM, type PumpswapPool } from './pumpswap-pool.ts'

const MAYHEM_PROGRAM = key('MAyhSmzXzV1pTf7LsNkrNwkWKTo4ougAJ1PPg47MD4e')
const MINT_AUTHORITY = programAddress(['mint-authority'], PUMPFUN_PROGRAM)
const MIGRATE = Uint8Array.fromHex('9beae792ec9ea21e')
/** Lamports that a migration keeps for the accounts it makes. */
const MIGRATION_FEE = 15_000_001n

/** A new coin of Token-2022 with its curve, by `create_v2`. */
export function launchPumpfun(
  script: TransactionScript,
  { creator, name, symbol, uri }: NewCurve,
  { ledger, random }: VenueWorld
): PumpfunCurve {
  const mint = random.bytes(32)
  const derived = (seed: string): Uint8Array => programAddress([seed, mint], MAYHEM_PROGRAM)
  const address = programAddress(['bonding-curve', mint], PUMPFUN_PROGRAM)
  const vault = programAddress([address, TOKEN_2022, mint], ASSOCIATED_TOKEN)
  const curve = newCurve(mint, creator, () => vault)
  const accounts = [
    { address: mint, signer: true, writable: true },
    reads(MINT_AUTHORITY),
    writes(address),
    writes(vault),
    reads(PUMPFUN_GLOBAL),
    signs(creator),
    reads(SYSTEM),
    reads(TOKEN_2022),
    reads(ASSOCIATED_TOKEN),
    reads(MAYHEM_PROGRAM),
    reads(programAddress(['global-params'], MAYHEM_PROGRAM)),
    writes(programAddress(['sol-vault'], MAYHEM_PROGRAM)),
    writes(derived('mayhem-state')),
    writes(derived('mayhem-vault')),
    reads(pumpfunEvents.authority),
    reads(PUMPFUN_PROGRAM)
  ]
  const data = createV2.write({ name, symbol, uri, creator, isMayhemMode: false })
  script.call(PUMPFUN_PROGRAM, accounts, data, (call) => {
    call.log('Instruction: CreateV2')
    call.createMint({ address: mint, decimals: DECIMALS, authority: MINT_AUTHORITY, token2022: true })
    writeCurve(call, curve)
    call.ensureTokenAccount(address, mint)
    call.mintTo({ mint, to: vault, authority: MINT_AUTHORITY, amount: SUPPLY })
    call.dropMintAuthority(mint, MINT_AUTHORITY)
    pumpfunEvents.state(
      call,
      createEvent.write({
        name,
        symbol,
        uri,
        mint,
        bondingCurve: address,
        user: creator,
        creator,
        timestamp: BigInt(call.blockTime),
        virtualTokenReserves: VIRTUAL_TOKENS,
        virtualSolReserves: VIRTUAL_LAMPORTS,
        realTokenReserves: TOKENS_FOR_SALE,
        tokenTotalSupply: SUPPLY,
        tokenProgram: ledger.mint(mint).program,
        isMayhemMode: false,
        isCashbackEnabled: false,
        quoteMint: NATIVE_MINT,
        virtualQuoteReserves: VIRTUAL_LAMPORTS,
        creatorFeeBps: CREATOR_BPS,
        isHolderReward: false,
        depth: 0
      })
    )
  })
  return curve
}

/** Moves what the curve took, and the tokens that it did not sell, to the coin's pool on PumpSwap. */
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
  const authorityTokens = ledger.tokenAccountOf(authority, mint)
  const accounts = [
    reads(PUMPFUN_GLOBAL),
    writes(key('39azUYFWPz3VHgKCf3VChUwbpURdCHRxjWVowf5jUJjg')),
    reads(mint),
    writes(curve.address),
    writes(vault),
    signs(script.payer),
    reads(SYSTEM),
    reads(TOKEN),
    reads(PUMPSWAP_PROGRAM),
    writes(address),
    writes(authority),
    writes(authorityTokens),
    writes(ledger.tokenAccountOf(authority, NATIVE_MINT)),
    reads(key('ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw')),
    reads(NATIVE_MINT),
    writes(lpMint),
    writes(programAddress([authority, TOKEN_2022, lpMint], ASSOCIATED_TOKEN)),
    writes(ledger.tokenAccountOf(address, mint)),
    writes(ledger.tokenAccountOf(address, NATIVE_MINT)),
    reads(TOKEN_2022),
    reads(ASSOCIATED_TOKEN),
    reads(programAddress(['__event_authority'], PUMPSWAP_PROGRAM)),
    reads(pumpfunEvents.authority),
    reads(PUMPFUN_PROGRAM)
  ]
  let pool: PumpswapPool | null = null
  script.call(PUMPFUN_PROGRAM, accounts, MIGRATE, (call) => {
    call.log('Instruction: Migrate')
    call.ensureTokenAccount(authority, mint)
    call.transfer({ mint, from: vault, to: authorityTokens, authority: curve.address, amount: tokens })
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
    pumpfunEvents.state(
      call,
      migrationEvent.write({
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
    )
  })
  return { venue: 'pumpswap', pool: pool! }
}
