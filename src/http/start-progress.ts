import type { AppDeps } from './deps.ts'

/** States of a source whose newer slots are still to be expected. */
const EXPECTANT: ReadonlySet<string> = new Set(['connecting', 'advancing', 'full'])

/**
 * Returns the indexed share of the past that a fresh localnet generates, 0 to 1; null if there is none to wait for, or if
 * its source has stopped: then the index is not starting, but stale.
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
