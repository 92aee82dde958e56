import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { cursorAt } from '../../src/market/cursor.ts'
import type { EncodedEvent, LogPart } from '../../src/market/log.ts'
import { ByteWriter } from './byte-writer.ts'
import { logAddressIn } from './keys.ts'
import type { RecordKind } from './record.ts'

/** Bodies of fewer bytes are as they are: the compressor saves little of them, and takes as long as for many. */
const COMPRESSED_FROM = 1_024
/** The fastest; slower ones save a few percent. */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Parts as they were packed: a cluster writes one twice, to its journal and to its table. */
const packedParts = new WeakMap<LogPart, Uint8Array>()
const scratch = new ByteWriter()

/**
 * The channel and the slot are in the key. Cursors and lengths of all events come first and then all bodies, compressed
 * together, since those of a channel are much alike. What is unpacked are views of the one buffer that has them all.
 */
export const logPartKind: RecordKind<LogPart> = {
  name: 'log part',
  write(out, part) {
    let packed = packedParts.get(part)
    if (packed === undefined) packedParts.set(part, (packed = pack(part)))
    out.fixed(packed, packed.length)
  },
  read(source, key) {
    const { channel, slot } = logAddressIn(key)
    const count = source.count()
    const cursors: number[] = []
    const ends: number[] = []
    let [cursor, end] = [cursorAt(slot, 0), 0]
    for (let i = 0; i < count; i++) {
      cursors.push((cursor += source.count()))
      ends.push((end += source.count()))
    }
    const isCompressed = source.byte() === 1
    const rest = source.rest()
    source.skipRest()
    const bodies = isCompressed ? unpacked(rest, end) : rest.slice()
    if (bodies.length !== end) throw new RangeError('the bodies are not as long as they are said to be')
    const { buffer, byteOffset } = bodies
    const events: EncodedEvent[] = []
    for (let i = 0, start = 0; i < count; start = ends[i++]!)
      events.push({ cursor: cursors[i]!, body: new Uint8Array(buffer, byteOffset + start, ends[i]! - start) })
    return { channel, slot, events }
  },
  weigh: ({ events }) => events.reduce((sum, { body }) => sum + 200 + body.length, 100)
}

function pack({ slot, events }: LogPart): Uint8Array {
  scratch.clear()
  scratch.count(events.length)
  let before = cursorAt(slot, 0)
  for (const { cursor, body } of events) {
    scratch.count(cursor - before)
    scratch.count(body.length)
    before = cursor
  }
  const bodies = Buffer.concat(events.map(({ body }) => body))
  const isCompressed = bodies.length >= COMPRESSED_FROM
  scratch.byte(isCompressed ? 1 : 0)
  const stored = isCompressed ? zstdCompressSync(bodies, COMPRESSION) : bodies
  scratch.fixed(stored, stored.length)
  return scratch.take()
}

/** In one piece, with a byte to spare: one that is filled to the brim is asked whether more comes, for half as much time again. */
function unpacked(compressed: Uint8Array, length: number): Uint8Array {
  return zstdDecompressSync(compressed, { chunkSize: Math.max(length + 1, 64), maxOutputLength: length })
}
