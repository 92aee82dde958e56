import type { MintAccount } from '../accounts/mint-account.ts'
import type { TokenProgramName } from '../accounts/token-program.ts'
import { samePubkey, type Pubkey } from '../chain/pubkey.ts'
import { NATIVE_MINT } from '../chain/token-accounts.ts'

/** A supply in base units, with the slot at which it is exact. */
export interface SupplyAt {
  readonly supply: bigint
  readonly slot: number
}

/** Extensions with which some supply is in no account's amount: withheld fees, and encrypted balances. */
const OUTSIDE_OF_AMOUNTS = [
  'transfer_fee_config',
  'confidential_transfer_mint',
  'confidential_transfer_fee_config',
  'confidential_mint_burn'
]

/**
 * Returns the supply of a token at the slot of its holder list: the sum of all accounts, because mints and burns change an
 * account and the supply equally. An extension may keep tokens outside of these amounts. The supply is then the mint
 * account's: at the list's slot if no account has changed since, else at its own slot. Null for wrapped SOL, whose mint
 * counts no supply, and while the extensions are unknown; a mint never gains an extension.
 */
export function supplyAt(
  list: {
    readonly mint: Pubkey
    readonly tokenProgram: TokenProgramName
    readonly held: bigint
    readonly slot: number
    /** The last slot at which an account of the list changed. */
    readonly changedSlot: number
  },
  stated: { readonly account: MintAccount; readonly slot: number } | null
): SupplyAt | null {
  if (samePubkey(list.mint, NATIVE_MINT)) return null
  if (list.tokenProgram === 'spl-token') return { supply: list.held, slot: list.slot }
  if (stated === null) return null
  const { account, slot } = stated
  const isOutside = account.extensions.some(
    (name) => OUTSIDE_OF_AMOUNTS.includes(name) || name.startsWith('unknown_')
  )
  if (!isOutside) return { supply: list.held, slot: list.slot }
  const isSame = list.changedSlot <= slot && slot <= list.slot
  return { supply: account.supply, slot: isSame ? list.slot : slot }
}
