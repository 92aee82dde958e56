import { capability } from '../kernel/compose/product.ts'
import { CASH } from '../ingest/capabilities.ts'
import { NameIndex } from './name-index.ts'
import { RankingHandle } from './ranking-handle.ts'

/** The sums of the last day, by which tokens are ranked. */
export const RANKING = capability(() => new RankingHandle())

/** Symbols and names of tokens. */
export const NAMES = capability(
  ({ budget, get }) => new NameIndex({ bytesMax: budget.names, cash: get(CASH) })
)
