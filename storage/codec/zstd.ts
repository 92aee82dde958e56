import {
  constants,
  createZstdCompress,
  createZstdDecompress,
  zstdCompressSync,
  zstdDecompressSync
} from 'node:zlib'
import { NEW_MEMORY } from '../../src/memory/arena.ts'
import type { Memory } from '../../src/market/log.ts'

/** The fastest; slower ones save a few percent. */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 }

/** What a stream of Node has inside, and has had since long; npm's own archives are read past the stream, too. */
interface Inside {
  readonly _handle: {
    writeSync(
      flush: number,
      from: Uint8Array,
      fromAt: number,
      fromLength: number,
      into: Uint8Array,
      intoAt: number,
      intoLength: number
    ): void
  }
  /** What the last call left: room, and bytes. */
  readonly _writeState: Uint32Array
  readonly errored: Error | null
  on(event: 'error', listener: () => void): unknown
  destroy(): void
}

/**
 * A context that is kept. To make one for each call, as Node's functions do, takes 40 µs, and a block has seven parts of
 * the log: their 85 kB take 0.15 ms for 0.45, and 0.06 for 0.33 back. A large part is written where it stays.
 */
class Context {
  readonly #open: () => object
  readonly #flush: number
  #stream: Inside | null = null

  constructor(open: () => object, flush: number) {
    this.#open = open
    this.#flush = flush
  }

  /**
   * Writes one frame, or what one says, and gives its length. Null where there is no room for it and a byte more, where
   * the bytes are no frame, and where Node has changed inside: its own function is to be asked, which says what is wrong.
   */
  run(from: Uint8Array, into: Uint8Array): number | null {
    const stream = (this.#stream ??= opened(this.#open()))
    if (stream === null) return null
    stream._handle.writeSync(this.#flush, from, 0, from.length, into, 0, into.length)
    const [room = 0, left = 0] = stream._writeState
    if (room > 0 && left === 0 && stream.errored === null) return into.length - room
    this.reset()
    return null
  }

  /** Forgets what is left of a frame. */
  reset(): void {
    this.#stream?.destroy()
    this.#stream = null
  }
}

function opened(stream: object): Inside | null {
  const { _handle: handle, _writeState: state } = stream as Partial<Inside>
  if (typeof handle?.writeSync !== 'function' || !(state instanceof Uint32Array)) return null
  const inside = stream as Inside
  // A fault is seen where it happens, and told once more in a later turn.
  inside.on('error', () => undefined)
  return inside
}

const compressing = new Context(() => createZstdCompress({ params: PARAMS }), constants.ZSTD_e_end)
const uncompressing = new Context(() => createZstdDecompress(), constants.ZSTD_e_continue)
let scratch = Buffer.allocUnsafeSlow(64 * 2 ** 10)

/** One frame, good until the next call. */
export function compressed(bytes: Uint8Array): Uint8Array {
  // What cannot be made smaller takes a little more: a header, and three bytes for each 128 KiB.
  const most = bytes.length + (bytes.length >>> 8) + 128
  if (scratch.length < most) scratch = Buffer.allocUnsafeSlow(2 * most)
  const length = compressing.run(bytes, scratch)
  return length === null ? zstdCompressSync(bytes, { params: PARAMS }) : scratch.subarray(0, length)
}

/** What a frame of so many bytes says. Throws RangeError where it has another length. */
export function uncompressed(frame: Uint8Array, length: number, memory: Memory = NEW_MEMORY): Uint8Array {
  const bytes = memory.take(length + 1)
  const given = uncompressing.run(frame, bytes)
  if (given === length) return bytes.subarray(0, length)
  const asked = zstdDecompressSync(frame, { maxOutputLength: Math.max(length, 1) })
  if (asked.length === length) return asked
  uncompressing.reset()
  throw new RangeError(`${asked.length} bytes are compressed where ${length} belong`)
}
