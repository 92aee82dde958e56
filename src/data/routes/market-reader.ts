import type { Archive } from '../../archive/archive.ts'
import { liveStores, type MarketStores } from '../../archive/market-stores.ts'
import { withArchive } from '../../archive/with-archive.ts'
import { countedArchive } from '../../kernel/http/counted-storage.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'

/**
 * Returns a function that returns the records of the market: the live ones, continued into the archive while an archive is
 * served. An answer calls the function once, so that all of the answer is from one archive.
 */
export function marketReader({ storage, archive }: Pick<AppDeps, 'storage' | 'archive'>): () => MarketStores {
  const live = liveStores(storage)
  let joined: { readonly archive: Archive; readonly stores: MarketStores } | null = null
  return () => {
    const current = archive?.current ?? null
    if (current === null) return live
    if (joined?.archive !== current)
      joined = { archive: current, stores: withArchive(storage, countedArchive(current)) }
    return joined.stores
  }
}
