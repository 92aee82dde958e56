import type { BlockCommit } from '../../storage/port.ts'
import { Choices } from '../../storage/test/choices.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { sampleTotals } from '../../storage/test/sample-activity.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { originAt, sampleTrade } from '../../storage/test/sample-rows.ts'

/** The seed of a block and its size: processes agree on blocks by a few numbers. */
export interface SeriesBlock {
  readonly seed: number
  /** Trades in addition to those of the sample; 2,000 take half a MB. */
  readonly more?: number
}

/** Blocks by their index. */
export type Series = readonly SeriesBlock[]

/**
 * Returns the block at an index of a seed's series. As on the chain, an hour in which a mint has traded stays one, and
 * every block has totals.
 */
export function seriesBlock({ seed, more = 0 }: SeriesBlock, index: number): BlockCommit {
  const block = sampleBlock(seed, index)
  const choices = new Choices(seed + index)
  const { slot, blockTime } = block.slot
  const trades = Array.from({ length: more }, (_, i) =>
    sampleTrade(choices, originAt(choices, slot, 1_000 + i * 4, blockTime), sampleMint(0))
  )
  return {
    ...block,
    trades: [...block.trades, ...trades],
    totals: block.totals ?? sampleTotals(choices),
    activity: block.activity.filter(
      ({ of, minutes }) => of !== 'mint' || minutes.some(({ trades }) => trades > 0)
    )
  }
}

export const seriesOf = (series: Series): BlockCommit[] => series.map(seriesBlock)

/** Returns the expected content of a store that has all blocks of a series. */
export function modelOf(series: Series): StorageModel {
  const model = new StorageModel()
  for (const block of seriesOf(series)) model.commit(block)
  return model
}
