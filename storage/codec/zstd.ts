import {
  constants,
  createZstdCompress,
  createZstdDecompress,
  zstdCompressSync,
  zstdDecompressSync
} from 'node:zlib'

/** The fastest; slower ones save a few percent. */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 }
const CHUNK_BYTES = 64 * 2 ** 10

/** What a stream of Node has inside: what npm's own archives are read with, kept "for backwards compatibility". */
interface Inside {
  _processChunk(bytes: Uint8Array, flush: number): Uint8Array
  /** What it closes, and lets go of, after each call. */
  _handle: { close(): void } | null
  removeAllListeners(event: 'error'): { on(event: 'error', listener: () => void): unknown }
}

/**
 * A context that is kept: a new one for each call, as Node's functions have it, takes 40 µs, which is twice what a part of
 * the log takes, and a block has seven of them (its 85 kB: 0.15 ms for 0.45, and 0.06 for 0.33 back).
 */
class Context {
  readonly #open: () => object
  readonly #flush: number
  #stream: Inside | null = null
  #handle: Inside['_handle'] = null
  #close: () => void = () => undefined

  constructor(open: () => object, flush: number) {
    this.#open = open
    this.#flush = flush
  }

  /** The answer is good until the next call. Null where Node's own function is to be asked, which says what is wrong. */
  run(bytes: Uint8Array): Uint8Array | null {
    const stream = (this.#stream ??= this.#opened())
    if (stream === null) return null
    try {
      return stream._processChunk(bytes, this.#flush)
    } catch {
      this.reset()
      return null
    } finally {
      stream._handle = this.#handle
      // It was listened to for this call, and may tell of a fault once more after it.
      stream.removeAllListeners('error').on('error', () => undefined)
    }
  }

  /** Forgets what is left of a frame. */
  reset(): void {
    this.#stream = null
    this.#close()
  }

  #opened(): Inside | null {
    const stream = this.#open() as Partial<Inside>
    const handle = stream._handle
    if (typeof stream._processChunk !== 'function' || typeof handle?.close !== 'function') return null
    this.#close = handle.close.bind(handle)
    handle.close = () => undefined
    this.#handle = handle
    return stream as Inside
  }
}

const compressing = new Context(
  () => createZstdCompress({ params: PARAMS, chunkSize: CHUNK_BYTES }),
  constants.ZSTD_e_end
)
const uncompressing = new Context(
  () => createZstdDecompress({ chunkSize: CHUNK_BYTES }),
  constants.ZSTD_e_continue
)

/** One frame, good until the next call. */
export function compressed(bytes: Uint8Array): Uint8Array {
  return compressing.run(bytes) ?? zstdCompressSync(bytes, { params: PARAMS })
}

/** What a frame of so many bytes says, in a buffer of its own. Throws RangeError where it has another length. */
export function uncompressed(frame: Uint8Array, length: number): Uint8Array {
  const bytes = uncompressing.run(frame) ?? zstdDecompressSync(frame, { maxOutputLength: length })
  if (bytes.length === length) return Uint8Array.prototype.slice.call(bytes)
  uncompressing.reset()
  throw new RangeError(`${bytes.length} bytes are compressed where ${length} belong`)
}
