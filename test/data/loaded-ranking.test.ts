import t from 'tap'
import { loadedRanking } from '../../src/data/loaded-ranking.ts'
import { RankingHandle } from '../../src/data/ranking-handle.ts'
import { Ranking } from '../../src/market/ranking.ts'
import { advance, virtualClock } from '../virtual-time.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

t.test('a request gets the ranking at once where there is one, else as soon as it is loaded', async (t) => {
  const clock = virtualClock()
  const live = new RankingHandle()
  const { signal } = new AbortController()
  const early = loadedRanking({ ranking: live, clock }, signal)
  await advance(clock, 999)
  const ranking = new Ranking()
  live.show(ranking)
  t.equal(await early, ranking)
  t.equal(await loadedRanking({ ranking: live, clock }, signal), ranking)
})

t.test('a request that has waited a second is told to come back', async (t) => {
  const clock = virtualClock()
  const live = new RankingHandle()
  live.show(new Ranking())
  live.withdraw()
  const early = t.rejects(loadedRanking({ ranking: live, clock }, new AbortController().signal), {
    name: 'ServiceError',
    kind: ERRORS.INDEX_LOADING
  })
  await advance(clock, 1_000)
  await early
})
