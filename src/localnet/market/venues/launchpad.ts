import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import { curvePrice, isSoldOut, type LaunchCurve } from '../curves/launch-curve.ts'
import type { CallScript, TransactionScript } from '../script.ts'
import type { LaunchpadVenue, MarketPool, PoolVenue, VenueWorld } from '../venue.ts'
import { createVaults, key, type PoolSides } from './pool-sides.ts'
import type { Instruction } from './program.ts'

/** Metaplex, whose account of a mint's name is made with it. */
export const METADATA = key('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')

/** The parts in which launchpads with launch curves differ. */
interface Launchpad<Curve> extends Pick<LaunchpadVenue<Curve>, 'venue' | 'paidIn' | 'launch' | 'swap'> {
  /** Opens the pool that the curve goes on as. */
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

/** The curve as a pool of its token and wrapped SOL. */
export function curveSides(curve: VaultedCurve): PoolSides & MarketPool {
  const { address, mint, baseVault, quoteVault } = curve
  return { address, mints: [mint, NATIVE_MINT], vaults: [baseVault, quoteVault], baseSide: 0 }
}

/** Makes a curve's mint and vaults, and all tokens that there will ever be. */
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

/** The accounts of a migration: of the curve, of who pays, and of the pool that it opens. */
type MigrationNames = 'pool' | 'mint' | 'baseVault' | 'quoteVault' | 'payer' | 'opened'

/** Opens a pool of another venue with all tokens that a curve has left and all that it raised, by its program's authority. */
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
  // The list has the new pool's address, which is known once it is open.
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

/** A curve with its tokens in a vault, which holds its lamports itself. */
interface LamportCurve extends MarketPool {
  readonly mint: Pubkey
  readonly vault: Pubkey
}

/** Moves tokens one way and lamports the other between a trader and a curve; the trader pays fees out of a sale. */
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
