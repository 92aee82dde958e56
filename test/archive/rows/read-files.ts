import { BUILT_IN_MAPPINGS } from '../../../src/archive/rows/built-in-mapping.ts'
import { readTradeFacts, type FactReading } from '../../../src/archive/rows/fact-reading.ts'
import { contentOfPaths } from '../../../src/archive/rows/path-content.ts'
import { RowCheck } from '../../../src/archive/rows/row-check.ts'
import { placeText, REFUSAL_REASONS } from '../../../src/archive/rows/row-refusal.ts'
import { RowTally } from '../../../src/archive/rows/row-tally.ts'
import type { TradeFact } from '../../../src/archive/rows/trade-fact.ts'

/** 2026-11-01, in Unix seconds. */
export const NOW = 1_793_491_200

export interface ReadFiles {
  readonly facts: readonly TradeFact[]
  readonly tally: RowTally
  /** `reason place: detail` of the shown refusals. */
  readonly refusals: readonly string[]
}

/** Reads the trade rows of files and folders. */
export async function readFiles(
  paths: readonly string[],
  replaced: Partial<FactReading> = {}
): Promise<ReadFiles> {
  const tally = new RowTally()
  const content = await contentOfPaths(paths)
  for (const refusal of content.refusals) tally.refusals.add(refusal)
  const reading: FactReading = {
    mappings: BUILT_IN_MAPPINGS,
    hasVenue: false,
    check: new RowCheck({ venue: null, now: NOW }),
    tally,
    signal: new AbortController().signal,
    ...replaced
  }
  const facts: TradeFact[] = []
  for await (const some of readTradeFacts(content.rows, reading)) facts.push(...some.map(({ fact }) => fact))
  const refusals = REFUSAL_REASONS.flatMap((reason) =>
    tally.refusals.first(reason).map((each) => `${reason} ${placeText(each)}: ${each.detail}`)
  )
  return { facts, tally, refusals }
}
