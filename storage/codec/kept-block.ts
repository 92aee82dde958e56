import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { BlockEntry } from '../../src/market/block.ts'
import type { KeptBlock, MarketBefore } from '../../src/market/kept-block.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import type { RecordKind } from './record.ts'

/** The hash of a block that an older version packed. */
const NO_HASH = { blockhash: null }

const withHash = (before: MarketBefore): MarketBefore =>
  before.head === null ? before : { ...before, head: { ...NO_HASH, ...before.head } }

/**
 * A kept block lives for an hour at most, and longer only beside a gap: it is packed as the engine clones objects, which
 * needs no layout, and compressed. One that an older version wrote is completed when it is read.
 */
export const keptBlockKind: RecordKind<KeptBlock> = {
  name: 'kept block',
  write: (out, kept) => {
    const bytes = zstdCompressSync(serialize(kept))
    out.fixed(bytes, bytes.length)
  },
  read: (source) => {
    const kept = deserialize(zstdDecompressSync(source.rest())) as KeptBlock
    source.skipRest()
    return completed(kept)
  },
  weigh: () => 0
}

/**
 * Adds the fields that an older version did not keep: hashes, the provider's side of liquidity, and of a pool its newest
 * price-forming price and its reserves.
 */
function completed({ block, before }: KeptBlock): KeptBlock {
  const pools = before.values.pools.map(({ pool, row }) => ({ pool, row: row && completedPool(row) }))
  return {
    block: { ...NO_HASH, ...block, entries: block.entries.map(completedEntry) },
    before: { ...withHash(before), values: { ...before.values, pools } }
  }
}

function completedEntry(entry: BlockEntry): BlockEntry {
  const { event } = entry
  if (event.kind !== 'liquidity' || Object.hasOwn(event, 'traderBase')) return entry
  return { ...entry, event: { ...event, traderBase: event.baseAmount, traderQuote: event.quoteAmount } }
}

/** As a stored pool of an older version reads (`pool.ts`). */
function completedPool(row: PoolRow): PoolRow {
  if (Object.hasOwn(row, 'reserves')) return row
  if (Object.hasOwn(row, 'lastPrice')) return { ...row, reserves: null }
  const { lastTrade } = row
  if (lastTrade === null) return { ...row, lastPrice: null, reserves: null }
  const { cursor, slot, blockTime } = lastTrade
  return { ...row, lastTrade: { cursor, slot, blockTime }, lastPrice: null, reserves: null }
}
