import type { z } from 'zod'
import { NO_HOLDERS, type TOKEN } from '../../data/bodies/token.ts'
import { secondsText } from '../../kernel/http/time.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import { HolderFactsCache } from '../holder-facts.ts'
import { HolderLists } from '../holder-lists.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'

export type HolderSummary = z.input<typeof TOKEN>['holders']

/**
 * Returns a reader of the summary of a token's holders. Its fields are null for a token without a holder list.
 * Reading does not create a list, and calls `pause` between its pages.
 */
export function holderSummaries({
  storage,
  accounts,
  clock,
  cash
}: Pick<AppDeps, 'storage' | 'accounts' | 'clock' | 'cash'>): (
  mint: Pubkey,
  pause: () => Promise<void>
) => Promise<HolderSummary> {
  if (accounts === null) return async () => NO_HOLDERS
  const lists = new HolderLists(storage, clock, () => undefined)
  const cache = new HolderFactsCache(storage, lists, clock, cash)
  return async (mint, pause) => {
    const status = await lists.status(mint)
    if (status.kind !== 'view') return NO_HOLDERS
    const facts = await cache.of(status.view, pause)
    if (facts === null) return NO_HOLDERS
    return {
      count: facts.sums.owners,
      top10_pct: facts.concentration.top10,
      top10_adjusted_pct: facts.adjusted?.top10 ?? null,
      updated_at: secondsText(Math.floor(status.view.atMs / 1_000))
    }
  }
}
