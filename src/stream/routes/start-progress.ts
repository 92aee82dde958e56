import type { AppDeps } from '../../kernel/http/deps.ts'

/** States of a source from which newer slots are still expected. */
const EXPECTANT: ReadonlySet<string> = new Set(['connecting', 'advancing', 'full'])

/**
 * Returns the indexed share of the past that a fresh localnet generates, 0 to 1. Null if the past is complete or is not
 * generated, or if its source has stopped: then the index is not starting, but stale.
 */
export function startProgress({
  feed: { head },
  source,
  pastEnd
}: Pick<AppDeps, 'feed' | 'source' | 'pastEnd'>): number | null {
  const end = pastEnd?.() ?? null
  const slot = head?.slot ?? 0
  if (end === null || slot >= end) return null
  const state = source()?.state ?? 'connecting'
  return EXPECTANT.has(state) ? Math.floor((slot / end) * 1000) / 1000 : null
}
