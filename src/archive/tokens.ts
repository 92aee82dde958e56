import { samePubkey, type Pubkey } from '../chain/pubkey.ts'
import type { Storage, TokenStore } from '../../storage/port.ts'
import type { Archive } from './archive.ts'
import type { MarketTokens, TokenSpan } from './market-stores.ts'
import { joinedToken } from './pools.ts'

/** The tokens of both stores. Both are of one adapter, so they list their tokens in one order. */
export function joinedTokens(live: Pick<Storage, 'tokens' | 'pools'>, archive: Archive): MarketTokens {
  const { tokens } = archive.storage
  return {
    get: (mint) => joinedToken(mint, live, archive),
    async list(page) {
      const [earlier, later] = await Promise.all([tokens.list(page), live.tokens.list(page)])
      return mergedSpans(earlier, later, live.tokens.compare).slice(0, Math.max(0, page.limit))
    }
  }
}

/** Merges two lists in one order. A token of both spans the time from its first event to its last trade. */
function mergedSpans(
  earlier: readonly TokenSpan[],
  later: readonly TokenSpan[],
  compare: TokenStore['compare']
): TokenSpan[] {
  const merged: TokenSpan[] = []
  for (let [at, behind] = [0, 0]; at < earlier.length || behind < later.length;) {
    const [one, other] = [earlier[at], later[behind]]
    const order = orderOf(one?.mint, other?.mint, compare)
    if (order <= 0) at++
    if (order >= 0) behind++
    const span = order === 0 ? { ...one!, lastTrade: other!.lastTrade ?? one!.lastTrade } : (one ?? other)!
    merged.push(order > 0 ? other! : span)
  }
  return merged
}

/** Compares the next tokens of two lists; a list that has ended comes last. */
function orderOf(one: Pubkey | undefined, other: Pubkey | undefined, compare: TokenStore['compare']): number {
  if (one === undefined) return 1
  if (other === undefined) return -1
  return samePubkey(one, other) ? 0 : compare(one, other)
}
