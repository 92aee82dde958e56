import { pubkeyFromBase58, type Pubkey } from '../chain/pubkey.ts'
import { mintNames } from '../market/mint-names.ts'
import type { CashList } from '../market/cash.ts'
import type { Storage } from '../../storage/port.ts'
import type { NameIndex } from './name-index.ts'

/** Maximum concurrent reads of launches. Arbitrary; most names are in memory. */
const READS_AT_ONCE = 16

/** The sources of symbols. */
export interface SymbolSources {
  readonly names: Pick<NameIndex, 'namesOf'>
  readonly cash: CashList
  readonly storage: Pick<Storage, 'launches'>
}

/**
 * Finds the symbols of mints, base58: those of the index of names, else of the cash list or a launch. Does not query
 * nodes. Rejects with the store's error.
 */
export async function symbolsOf(
  mints: Iterable<string>,
  { names, cash, storage }: SymbolSources
): Promise<(mint: string) => string | null> {
  const symbols = new Map<string, string | null>()
  const unknown: { readonly text: string; readonly mint: Pubkey }[] = []
  for (const text of new Set(mints)) {
    const mint = pubkeyFromBase58(text)
    const indexed = names.namesOf(mint)
    const known = cash.of(mint)
    if (indexed !== null) symbols.set(text, indexed.symbol)
    else if (known !== undefined) symbols.set(text, mintNames(known, null).symbol)
    else unknown.push({ text, mint })
  }
  for (let from = 0; from < unknown.length; from += READS_AT_ONCE)
    await Promise.all(
      unknown.slice(from, from + READS_AT_ONCE).map(async ({ text, mint }) => {
        symbols.set(text, mintNames(undefined, await storage.launches.get(mint)).symbol)
      })
    )
  return (mint) => symbols.get(mint) ?? null
}
