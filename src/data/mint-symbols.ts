import PQueue from 'p-queue'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
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
  const reads = new PQueue({ concurrency: READS_AT_ONCE })
  const symbolOf = async (text: string): Promise<string | null> => {
    const mint = pubkeyFromBase58(text)
    const indexed = names.namesOf(mint)
    if (indexed !== null) return indexed.symbol
    const known = cash.of(mint)
    const launch = known === undefined ? await reads.add(() => storage.launches.get(mint)) : null
    return mintNames(known, launch).symbol
  }
  const found = await Promise.all(
    [...new Set(mints)].map(async (mint) => [mint, await symbolOf(mint)] as const)
  )
  const symbols = new Map(found)
  return (mint) => symbols.get(mint) ?? null
}
