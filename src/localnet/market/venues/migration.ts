import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import type { CallScript } from '../script.ts'
import type { MarketPool, PoolVenue, VenueWorld } from '../venue.ts'

/** A curve with its tokens and its wrapped SOL in vaults. */
interface VaultedCurve {
  readonly mint: Pubkey
  readonly baseVault: Pubkey
  readonly quoteVault: Pubkey
  /** What was paid for what it sold, without fees. */
  readonly raised: bigint
}

/** Opens a pool of another venue with all tokens that a curve has left and all that it raised, by its program's authority. */
export function migrateVaults(
  call: CallScript,
  { mint, baseVault, quoteVault, raised }: VaultedCurve,
  authority: Pubkey,
  destination: PoolVenue<MarketPool>,
  world: VenueWorld
): MarketPool {
  const baseAmount = world.ledger.tokens(baseVault)
  for (const [token, from, amount] of [
    [mint, baseVault, baseAmount],
    [NATIVE_MINT, quoteVault, raised]
  ] as const) {
    const to = call.ensureTokenAccount(authority, token)
    call.transfer({ mint: token, from, to, authority, amount })
  }
  const opening = { creator: authority, base: mint, quote: NATIVE_MINT, baseAmount, quoteAmount: raised }
  return destination.open(call, opening, world)
}
