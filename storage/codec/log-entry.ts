import { copied, HEAP_ALLOCATOR } from '../../src/kernel/memory/arena.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { EncodedEvent, LogEntry, Allocator } from '../../src/market/log.ts'
import { ByteWriter } from './byte-writer.ts'
import { logAddressIn } from './keys.ts'
import type { RecordKind } from './record.ts'
import { compressed, uncompressed } from './zstd.ts'

/** Bodies below this number of bytes are not compressed: little would be saved. */
const COMPRESSED_FROM = 1_024

/** Caches encoded entries: a cluster writes each twice, to its journal and to its table. */
const packedEntries = new WeakMap<LogEntry, Uint8Array>()
const scratch = new ByteWriter()
const scratchBodies = new ByteWriter()

/**
 * A slot's log entry on a channel; channel and slot are in the key. Cursors and lengths of all events come first, then all
 * bodies, compressed together because those of a channel are similar. Decoded bodies are views of one buffer.
 */
export const logEntryKind: RecordKind<LogEntry> = logEntriesIn(HEAP_ALLOCATOR)

/** Returns the kind whose decoded bodies are placed in the given memory. */
export function logEntriesIn(allocator: Allocator = HEAP_ALLOCATOR): RecordKind<LogEntry> {
  return {
    name: 'log entry',
    write(out, entry) {
      let packed = packedEntries.get(entry)
      if (packed === undefined) packedEntries.set(entry, (packed = pack(entry)))
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
      const bodies = isCompressed ? uncompressed(rest, end, allocator) : copied(rest, allocator)
      if (bodies.length !== end) throw new RangeError('the bodies are not as long as they are said to be')
      const { buffer, byteOffset } = bodies
      const events: EncodedEvent[] = []
      for (let i = 0, start = 0; i < count; start = ends[i++]!)
        events.push({
          cursor: cursors[i]!,
          body: new Uint8Array(buffer, byteOffset + start, ends[i]! - start)
        })
      return { channel, slot, events }
    },
    weigh: ({ events }) => events.reduce((sum, { body }) => sum + 200 + body.length, 100)
  }
}

function pack({ slot, events }: LogEntry): Uint8Array {
  scratch.clear()
  scratchBodies.clear()
  scratch.count(events.length)
  let before = cursorAt(slot, 0)
  for (const { cursor, body } of events) {
    scratch.count(cursor - before)
    scratch.count(body.length)
    scratchBodies.fixed(body, body.length)
    before = cursor
  }
  const bodies = scratchBodies.written()
  const isCompressed = bodies.length >= COMPRESSED_FROM
  scratch.byte(isCompressed ? 1 : 0)
  const stored = isCompressed ? compressed(bodies) : bodies
  scratch.fixed(stored, stored.length)
  return scratch.take()
}
