import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const compress = promisify(gzip)

/**
 * A text of so many bytes at most goes out as text if it is ASCII, which takes as much memory: with its headers it is
 * below the 16 KiB that Node writes without taking memory for them.
 */
const TEXT_BYTES_MAX = 15 * 1024

/** An answer as it goes over the wire. */
export class Rendering {
  /** What is sent. Small text stays text, for Node writes it in one piece with the headers: 4 µs less than bytes. */
  readonly payload: string | Buffer
  /** In bytes. */
  readonly length: number
  /** What makes its strong entity tag; the gzip form adds `-gzip`. */
  readonly tag: string
  #packed: Buffer | null = null

  constructor(content: string | Buffer) {
    this.length = Buffer.byteLength(content)
    const isSmallAscii = this.length <= TEXT_BYTES_MAX && this.length === content.length
    this.payload = typeof content === 'string' && !isSmallAscii ? bytesOf(content, this.length) : content
    this.tag = hash('sha1', this.payload, 'base64url')
  }

  get bytes(): Buffer {
    return typeof this.payload === 'string' ? Buffer.from(this.payload) : this.payload
  }

  /** The gzip form; null until `pack` has made it. */
  get packed(): Buffer | null {
    return this.#packed
  }

  /** Makes the gzip form off the event loop. */
  async pack(): Promise<Buffer> {
    return (this.#packed ??= withoutRest(await compress(this.payload, { level: 1 })))
  }

  /** Bytes held in memory. */
  get size(): number {
    return this.length + (this.#packed?.length ?? 0)
  }
}

/** Not from Node's pool, where a small answer that is kept would hold on to a slab of others that are not. */
function bytesOf(text: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length)
  bytes.write(text)
  return bytes
}

/** Of a short form zlib gives the beginning of a buffer of 16 KB, which would be held as long as it is. */
function withoutRest(packed: Buffer): Buffer {
  if (packed.buffer.byteLength === packed.length) return packed
  const bytes = Buffer.allocUnsafeSlow(packed.length)
  packed.copy(bytes)
  return bytes
}
