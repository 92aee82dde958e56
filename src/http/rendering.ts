import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const compress = promisify(gzip)

/** An answer as it goes over the wire. */
export class Rendering {
  readonly bytes: Buffer
  /** What makes its strong entity tag; the gzip form adds `-gzip`. */
  readonly tag: string
  #packed: Buffer | null = null

  constructor(content: string | Buffer) {
    this.bytes = typeof content === 'string' ? bytesOf(content) : content
    this.tag = hash('sha1', this.bytes, 'base64url')
  }

  /** The gzip form; null until `pack` has made it. */
  get packed(): Buffer | null {
    return this.#packed
  }

  /** Makes the gzip form off the event loop. */
  async pack(): Promise<Buffer> {
    return (this.#packed ??= await compress(this.bytes, { level: 1 }))
  }

  /** Bytes held in memory. */
  get size(): number {
    return this.bytes.length + (this.#packed?.length ?? 0)
  }
}

/** Not from Node's pool, where a small answer that is kept would hold on to a slab of others that are not. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
