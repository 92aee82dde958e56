import { ERRORS, ServiceError } from '../kernel/errors.ts'
import type { Ranking } from '../market/ranking.ts'
import { sleep, type Clock } from '../ports.ts'
import type { RankingHandle } from './ranking-handle.ts'

/**
 * Milliseconds that a request waits for the ranking. Shorter than the request's deadline, so that the refusal can
 * name the reason.
 */
const WAIT_MS = 1_000

/** Resolves with the ranking once it is loaded; rejects with INDEX_LOADING after `WAIT_MS`. */
export async function loadedRanking(
  { ranking, clock }: { readonly ranking: RankingHandle; readonly clock: Clock },
  signal: AbortSignal
): Promise<Ranking> {
  if (ranking.current !== null) return ranking.current
  const loaded = await Promise.race([ranking.loaded(), sleep(clock, WAIT_MS, signal)])
  if (loaded === undefined) {
    throw new ServiceError(ERRORS.INDEX_LOADING, 'the activity of the last day is still being loaded; retry')
  }
  return loaded
}
