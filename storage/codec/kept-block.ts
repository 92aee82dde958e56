import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import type { RecordKind } from './record.ts'

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
    return kept
  },
  weigh: () => 0
}
