import type { Amendment, Edit } from '../../src/market/amendment.ts'
import type { GapRow, Storage } from '../../storage/port.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { differenceBetween } from '../../storage/test/difference.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { slotAt } from '../../storage/test/sample-addresses.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { sampleGap } from '../../storage/test/sample-gap.ts'
import { sampleKept } from '../../storage/test/sample-kept.ts'
import assert from 'node:assert/strict'

/** The blocks of a series that an amendment inserts and removes, by index: processes agree on it by a few numbers. */
export interface AmendedSeries {
  readonly seed: number
  readonly blocks: number
  /** Indexes of the blocks that are inserted. */
  readonly late: readonly number[]
  /** Number of the last blocks that are removed. */
  readonly lost: number
}

const isBefore = ({ late }: AmendedSeries, index: number): boolean => !late.includes(index)
const isAfter = ({ blocks, lost }: AmendedSeries, index: number): boolean => index < blocks - lost

/** The gap that the amendment closes. */
const GAP = sampleGap(1)

/** Commits the blocks before the amendment, each with its read set. */
export async function fill(storage: Storage, series: AmendedSeries): Promise<void> {
  await storage.coverage.addGap(GAP)
  for (let index = 0; index < series.blocks; index++)
    if (isBefore(series, index))
      await storage.blocks.commit(sampleBlock(series.seed, index), sampleKept(index))
}

/** Returns the expected content of the store before and after the amendment. */
export function modelsOf(series: AmendedSeries): { before: StorageModel; after: StorageModel } {
  const [before, after] = [new StorageModel(), new StorageModel()]
  for (let index = 0; index < series.blocks; index++) {
    const block = sampleBlock(series.seed, index)
    if (isBefore(series, index)) before.commit(block)
    if (isAfter(series, index)) after.commit(block)
  }
  // An amendment lists the pools that it puts; this call informs the model of them.
  differenceBetween(before, after)
  return { before, after }
}

export function amendmentOf(series: AmendedSeries): readonly [Amendment, Edit<GapRow, number>] {
  const { before, after } = modelsOf(series)
  const indexes = Array.from({ length: series.blocks }, (_, index) => index)
  const put = series.late.filter((index) => isAfter(series, index)).map(sampleKept)
  const remove = indexes.filter((index) => isBefore(series, index) && !isAfter(series, index)).map(slotAt)
  return [
    { ...differenceBetween(before, after), kept: { put, remove } },
    { put: [], remove: [GAP.from] }
  ]
}

/** Compares all reads of a store, including kept blocks and gaps, with a model. */
export async function assertIs(
  storage: Storage,
  series: AmendedSeries,
  moment: 'before' | 'after'
): Promise<void> {
  await assertSame(storage, modelsOf(series)[moment])
  const isThere = moment === 'before' ? isBefore : isAfter
  const indexes = Array.from({ length: series.blocks }, (_, index) => index).filter((index) =>
    isThere(series, index)
  )
  assert.deepStrictEqual(await storage.history.after(null, 1_000), indexes.map(sampleKept))
  const gaps = await storage.coverage.gaps({ after: null, limit: 100 })
  assert.deepStrictEqual(gaps, moment === 'before' ? [GAP] : [])
}
