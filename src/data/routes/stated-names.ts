import type { MintFacts } from '../../accounts/mint-facts.ts'
import type { StatedMint } from '../../accounts/bodies/metadata.ts'
import type { CashList, CashMint } from '../../market/cash.ts'
import { mintNames } from '../../market/mint-names.ts'
import type { LaunchRow } from '../../market/rows.ts'
import type { Storage } from '../../../storage/port.ts'

/** Returns the names that the cash list or a launch states, and their origin. */
export function namesStatedBy(
  cash: CashMint | undefined,
  launch: LaunchRow | null
): Pick<StatedMint, 'names' | 'namesFrom'> {
  const names = mintNames(cash, launch)
  const isNamed = names.name !== null || names.symbol !== null
  return { names, namesFrom: !isNamed ? null : cash === undefined ? 'launch' : 'cash-list' }
}

const NONE: Pick<StatedMint, 'names' | 'namesFrom'> = namesStatedBy(undefined, null)

/**
 * Returns the names of a mint whose accounts have none. Reads nothing for other mints. Rejects with the store's
 * error.
 */
export async function statedNames(
  { storage, cash }: { readonly storage: Pick<Storage, 'launches'>; readonly cash: CashList },
  { mint, names }: MintFacts
): Promise<Pick<StatedMint, 'names' | 'namesFrom'>> {
  if (names !== null) return NONE
  const known = cash.of(mint)
  return namesStatedBy(known, known === undefined ? await storage.launches.get(mint) : null)
}
