import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { RANKED_WINDOWS, RANKS_MAX, type Ranking, type RankedWindow } from '../market/ranking.ts'
import type { IndexQuestion, RankingAnswer, SearchAnswer } from './index-question.ts'
import type { NameIndex } from './name-index.ts'
import type { NameHit, Volumes } from './name-search.ts'

/** The names and rankings of this process at a slot. */
export interface LoadedIndex {
  readonly slot: number
  readonly ranking: Pick<Ranking, 'top' | 'activeMints' | 'volume' | 'byVolume'>
  readonly names: Pick<NameIndex, 'searching' | 'size' | 'isComplete'>
}

/** The volumes by which a search ranks its hits. */
export const dayVolumes = (ranking: LoadedIndex['ranking']): Volumes => ({
  of: (mapKey) => ranking.volume('24h', mapKey),
  descending: () => ranking.byVolume('24h')
})

/** Returns what the index tells of every window. */
export function rankingAnswer({ slot, ranking, names }: LoadedIndex): RankingAnswer {
  const windowOf = (window: RankedWindow): RankingAnswer['windows'][RankedWindow] => ({
    active: ranking.activeMints(window),
    top: ranking
      .top(window, RANKS_MAX)
      .map(({ mint, trades, microUsd }) => [pubkeyToBase58(mint), trades, String(microUsd)])
  })
  const windows = Object.keys(RANKED_WINDOWS).map((name) => [name, windowOf(name as RankedWindow)])
  return {
    ...namesAt(slot, names),
    windows: Object.fromEntries(windows) as RankingAnswer['windows']
  }
}

/** Returns the tokens that a question's text is found in. Calls `pause` where other work may run. */
export async function searchAnswer(
  { slot, ranking, names }: LoadedIndex,
  { text, limit }: Pick<Extract<IndexQuestion, { kind: 'search' }>, 'text' | 'limit'>,
  pause: () => Promise<void>
): Promise<SearchAnswer> {
  let compared = 0
  const steps = names.searching(text, limit, dayVolumes(ranking), (count) => (compared += count))
  const found = await inSlices(steps, pause)
  const hits = found.map(({ mint, symbol, name, match }) => ({
    ...{ mint: pubkeyToBase58(mint), symbol, name, match }
  }))
  return { ...namesAt(slot, names), compared, hits }
}

/** Pauses at each yield of a search. */
export async function inSlices(
  search: Generator<void, readonly NameHit[], void>,
  pause: () => Promise<void>
): Promise<readonly NameHit[]> {
  for (;;) {
    const step = search.next()
    if (step.done === true) return step.value
    await pause()
  }
}

const namesAt = (slot: number, { size, isComplete }: LoadedIndex['names']) => ({
  slot,
  tokensSearched: size,
  isComplete
})
