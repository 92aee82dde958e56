import { FLEET, INDEX_STATE } from '../fleet/capabilities.ts'
import { capability, metricGroup } from '../kernel/compose/product.ts'
import { CASH } from '../ingest/capabilities.ts'
import { IndexPlace } from './index-place.ts'
import { indexMetrics } from './metrics.ts'
import { NameIndex } from './name-index.ts'
import { RankingHandle } from './ranking-handle.ts'

/** The sums of the last day, by which tokens are ranked. */
export const RANKING = capability(() => new RankingHandle())

/** Symbols and names of tokens. */
export const NAMES = capability(
  ({ budget, get }) => new NameIndex({ bytesMax: budget.names, cash: get(CASH) })
)

/** Whether this gateway holds the names and rankings of all mints. Only for processes that serve the Data API. */
export const INDEX_PLACE = capability(({ config, ports: { clock }, get }) => {
  const [ranking, names] = [get(RANKING), get(NAMES)]
  return new IndexPlace({
    ...{ clock, fleet: get(FLEET), state: get(INDEX_STATE) },
    isShared: config.storage !== 'embedded',
    mayHold: config.indexHolder,
    isLoaded: () => ranking.current !== null && names.hasLaunches
  })
})

export const INDEX_METRICS = metricGroup(indexMetrics)
