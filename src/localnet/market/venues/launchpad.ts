import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import { curvePrice, isSoldOut, type LaunchCurve } from '../curves/launch-curve.ts'
import type { CallScript, TransactionScript } from '../script.ts'
import type { LaunchpadVenue, MarketPool, PoolVenue, VenueWorld } from '../venue.ts'
import { createVaults, key, type PoolSides } from './pool-sides.ts'
import type { Instruction } from './program.ts'

/** Metaplex, whose account with a mint's name is created with the mint. */
export const METADATA = key('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')

/** The members in which launchpads with launch curves differ. */
interface Launchpad<Curve> extends Pick<LaunchpadVenue<Curve>, 'venue' | 'paidIn' | 'launch' | 'swap'> {
  /** Opens the pool that replaces the curve. */
  readonly migrate: (script: TransactionScript, curve: Curve, world: VenueWorld) => MarketPool
}

/** Returns a launchpad whose curves graduate to pools of the given venue. */
export function launchpad<Curve extends LaunchCurve & { readonly mint: Pubkey }>(
  { migrate, ...own }: Launchpad<Curve>,
  { venue }: PoolVenue<MarketPool>
): LaunchpadVenue<Curve> {
  return {
    ...own,
    price: curvePrice,
    mintOf: ({ mint }) => mint,
    isComplete: isSoldOut,
    graduate: (script, curve, world) => ({ venue, pool: migrate(script, curve, world) })
  }
}

/** A curve with its tokens and its wrapped SOL in vaults. */
export interface VaultedCurve extends LaunchCurve {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly baseVault: Pubkey
  readonly quoteVault: Pubkey
  readonly creator: Pubkey
}

/** Returns the curve as a pool of its token and wrapped SOL. */
export function curveSides(curve: VaultedCurve): PoolSides & MarketPool {
  const { address, mint, baseVault, quoteVault } = curve
  return { address, mints: [mint, NATIVE_MINT], vaults: [baseVault, quoteVault], baseSide: 0 }
}

/** Creates a curve's mint and vaults, and mints the whole supply. */
export function mintIntoVault(
  call: CallScript,
  curve: VaultedCurve,
  authority: Pubkey,
  decimals: number,
  supply: bigint
): void {
  const { mint, baseVault } = curve
  call.createMint({ address: mint, decimals, authority })
  createVaults(call, curveSides(curve), authority)
  call.mintTo({ mint, to: baseVault, authority, amount: supply })
  call.dropMintAuthority(mint, authority)
}

/** Names of a migration's accounts: those of the curve, the payer, and the opened pool. */
type MigrationNames = 'pool' | 'mint' | 'baseVault' | 'quoteVault' | 'payer' | 'opened'

/**
 * Opens a pool of another venue with the unsold tokens and the raised quote of a curve, under its program's authority.
 */
export function migrateVaults(
  script: TransactionScript,
  instruction: Instruction<'', MigrationNames>,
  curve: VaultedCurve,
  authority: Pubkey,
  destination: PoolVenue<MarketPool>,
  { ledger, random }: VenueWorld,
  end: (call: CallScript) => void
): MarketPool {
  const { mint, baseVault, quoteVault, raised } = curve
  // The list has the new pool's address, which is known only after opening.
  const opened = new Uint8Array(32)
  const addresses = { ...curve, pool: curve.address, payer: script.payer, opened }
  let pool: MarketPool | null = null
  instruction.call(script, addresses, {}, (call) => {
    const baseAmount = ledger.tokens(baseVault)
    for (const [token, from, amount] of [
      [mint, baseVault, baseAmount],
      [NATIVE_MINT, quoteVault, raised]
    ] as const) {
      const to = call.ensureTokenAccount(authority, token)
      call.transfer({ mint: token, from, to, authority, amount })
    }
    const opening = { creator: authority, base: mint, quote: NATIVE_MINT, baseAmount, quoteAmount: raised }
    pool = destination.open(call, opening, { ledger, random })
    opened.set(pool.address)
    end(call)
  })
  return pool!
}

/** A curve with its tokens in a vault; its own account holds the lamports. */
interface LamportCurve extends MarketPool {
  readonly mint: Pubkey
  readonly vault: Pubkey
}

/** Exchanges tokens and lamports between a trader and a curve; in a sale the trader pays the fees from the proceeds. */
export function exchangeForLamports(
  call: CallScript,
  { address, mint, vault }: LamportCurve,
  {
    trader,
    userTokens,
    isBuy
  }: { readonly trader: Pubkey; readonly userTokens: Pubkey; readonly isBuy: boolean },
  { tokens, lamports }: { readonly tokens: bigint; readonly lamports: bigint },
  fees: readonly (readonly [to: Pubkey, amount: bigint])[]
): void {
  if (isBuy) {
    call.transfer({ mint, from: vault, to: userTokens, authority: address, amount: tokens })
    call.transferLamports(trader, address, lamports)
    for (const [to, fee] of fees) call.transferLamports(trader, to, fee)
    return
  }
  const received = fees.reduce((rest, [, fee]) => rest - fee, lamports)
  call.transfer({ mint, from: userTokens, to: vault, authority: trader, amount: tokens })
  call.takeLamports(address, trader, received)
  for (const [to, fee] of fees) call.takeLamports(address, to, fee)
}
