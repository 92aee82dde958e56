import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { BlockEntry } from '../../src/market/block.ts'
import { bucketAt } from '../../src/market/candles.ts'
import type { KeptBlock, MarketBefore } from '../../src/market/kept-block.ts'
import type { LoadedRecords } from '../../src/market/read-set.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import { byName, READ_FIRST } from '../../src/market/records.ts'
import type { RecordKind } from './record.ts'

/** The hash of a block that an older version packed. */
const NO_HASH = { blockhash: null }

const withHash = (before: MarketBefore): MarketBefore =>
  before.head === null ? before : { ...before, head: { ...NO_HASH, ...before.head } }

/**
 * A kept block lives for an hour at most, longer only next to a gap. It is serialized as the engine clones objects, which
 * needs no layout, and compressed. A block that an older version wrote is completed when it is read.
 */
export const keptBlockKind: RecordKind<KeptBlock> = {
  name: 'kept block',
  write: (out, { block, before }) => {
    const kept = { block, before: { ...before, values: storedForm(before.values) } }
    const bytes = zstdCompressSync(serialize(kept))
    out.fixed(bytes, bytes.length)
  },
  read: (source) => {
    const kept = deserialize(zstdDecompressSync(source.rest())) as StoredBlock
    source.skipRest()
    return completed(kept)
  },
  weigh: () => 0
}

interface StoredBlock extends Pick<KeptBlock, 'block'> {
  readonly before: Omit<MarketBefore, 'values'> & { readonly values: ReturnType<typeof storedForm> }
}

/** Lists of rows with their addresses, under the names that they have had in stores from the first version on. */
function storedForm(loaded: LoadedRecords) {
  const { pairs, candles, launches, tokens, pools, curves, activity, ...others } = loaded
  return {
    pairs: pairs.map(({ address: { mint, cash }, row }) => ({ mint, cash, row })),
    candles: candles.map(({ address, row }) => ({ ...address, candle: row === null ? null : row.candle })),
    launches: launches.map(({ address, row }) => ({ mint: address, launch: row })),
    tokens: tokens.map(({ address, row }) => ({ mint: address, token: row })),
    pools: pools.map(({ address, row }) => ({ pool: address, row })),
    curves: curves.map(({ address, row }) => ({ mint: address, curve: row })),
    hours: activity.map(({ address, row }) => ({ ...address, activity: row })),
    ...others
  }
}

/** The start of a curve that an older version packed. */
const NO_START = { forSale: null }

/** Empty records, for those that a block was not folded on when it was stored. */
const NOTHING_READ = byName<LoadedRecords>(READ_FIRST, () => [])

function loadedForm(stored: ReturnType<typeof storedForm>): LoadedRecords {
  const { pairs, candles, launches, tokens, pools, curves, hours, ...others } = stored
  return {
    ...NOTHING_READ,
    pairs: pairs.map(({ row, ...address }) => ({ address, row })),
    candles: candles.map(({ candle, ...address }) => ({ address, row: bucketAt(address, candle) })),
    launches: launches.map(({ mint, launch }) => ({ address: mint, row: launch })),
    tokens: tokens.map(({ mint, token }) => ({ address: mint, row: token })),
    pools: pools.map(({ pool, row }) => ({ address: pool, row: row && completedPool(row) })),
    curves: curves.map(({ mint, curve }) => ({ address: mint, row: curve && { ...NO_START, ...curve } })),
    activity: hours.map(({ activity, ...address }) => ({ address, row: activity })),
    ...others
  }
}

/**
 * Adds the fields that an older version did not write: hashes, the provider's side of liquidity, a pool's newest
 * price-forming price and reserves, and the start of a curve.
 */
function completed({ block, before }: StoredBlock): KeptBlock {
  return {
    block: { ...NO_HASH, ...block, entries: block.entries.map(completedEntry) },
    before: withHash({ ...before, values: loadedForm(before.values) })
  }
}

function completedEntry(entry: BlockEntry): BlockEntry {
  const { event } = entry
  if (event.kind !== 'liquidity' || Object.hasOwn(event, 'traderBase')) return entry
  return { ...entry, event: { ...event, traderBase: event.baseAmount, traderQuote: event.quoteAmount } }
}

/** Completes a pool of an older version as `pool.ts` does when it reads one. */
function completedPool(row: PoolRow): PoolRow {
  if (Object.hasOwn(row, 'reserves')) return row
  if (Object.hasOwn(row, 'lastPrice')) return { ...row, reserves: null }
  const { lastTrade } = row
  if (lastTrade === null) return { ...row, lastPrice: null, reserves: null }
  const { cursor, slot, blockTime } = lastTrade
  return { ...row, lastTrade: { cursor, slot, blockTime }, lastPrice: null, reserves: null }
}
