import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { KeptBlock, MarketBefore } from '../../src/market/kept-block.ts'
import type { RecordKind } from './record.ts'

/** Of blocks that a version packed which kept no hashes. */
const NO_HASH = { blockhash: null }

const withHash = (before: MarketBefore): MarketBefore =>
  before.head === null ? before : { ...before, head: { ...NO_HASH, ...before.head } }

/**
 * A kept block lives for an hour at most and is read by the program that wrote it: it is packed as the engine clones
 * objects, which needs no layout, and squeezed.
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
    return { block: { ...NO_HASH, ...kept.block }, before: withHash(kept.before) }
  },
  weigh: () => 0
}
