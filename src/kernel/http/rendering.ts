import { createCipheriv, hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ServerResponse } from 'node:http'
import { renderingMemory } from './rendering-memory.ts'
import type { Fields } from './fields.ts'
import type { GatheredText } from './gathered-text.ts'

const compress = promisify(gzip)

/**
 * Largest ASCII answer that is sent as a string, which takes no more memory than bytes. With its headers it stays
 * below the 16 KiB that Node writes without another allocation.
 */
const TEXT_BYTES_MAX = 15 * 1024

/** The checksum detects changes; it keeps no secret. So its key is the same for all answers, of all processes. */
const TAG_KEY = Buffer.from('entity tag of an')
const TAG_NONCE = Buffer.from('answer, long')

/** Headers of one rendering. */
export interface RenderingHeaders {
  /** Replaces the media type of its terms. */
  readonly mediaType: string
  readonly fields: Fields
}

/**
 * The bytes of an answer, with its entity tag and gzip form.
 *
 * R1. The memory of a long answer is used for another one after `release`, once no response sends it and no form of it is
 *     compressed. Only a cache that no longer returns the answer releases it.
 * R2. Whoever gets an answer from a cache calls `useFor` in the same task or its microtasks, before it waits for anything.
 */
export class Rendering {
  /** Length in bytes. */
  readonly length: number
  /** The strong entity tag; the gzip form appends `-gzip`. */
  readonly tag: string
  /** Its own headers; null for those of its terms alone. */
  readonly headers: RenderingHeaders | null
  #packed: Buffer | null = null
  /** Null once the memory is used for another answer. */
  #payload: string | Buffer | null
  /** The memory of the payload, if it can be used for another answer. */
  #memory: Buffer | null = null
  /** Responses and compressions that use the memory. */
  #users = 0
  #isReleased = false

  constructor(content: string | Buffer, headers: RenderingHeaders | null = null) {
    this.headers = headers
    this.length = Buffer.byteLength(content)
    const isSmallAscii = this.length <= TEXT_BYTES_MAX && this.length === content.length
    const payload = typeof content === 'string' && !isSmallAscii ? bytesOf(content, this.length) : content
    this.#payload = payload
    this.tag = this.length > TEXT_BYTES_MAX ? longTag(payload as Buffer) : hash('sha1', payload, 'base64url')
  }

  /** Ends a text and renders it, in the form in which it is sent fastest. */
  static ofGathered(text: GatheredText): Rendering {
    const { bytes, isAscii } = text
    if (isAscii && bytes.length <= TEXT_BYTES_MAX) {
      const short = new Rendering(bytes.toString('latin1'))
      text.close()
      return short
    }
    const { length } = bytes
    const memory = text.take()
    const rendering = new Rendering(memory.subarray(0, length))
    rendering.#memory = memory
    return rendering
  }

  /**
   * The body to send. Small ASCII text stays a string, which Node writes together with the headers: 4 µs less than
   * bytes. Throws if the memory is used for another answer.
   */
  get payload(): string | Buffer {
    if (this.#payload === null) throw new Error('the memory of this answer was released')
    return this.#payload
  }

  /** Keeps the memory until a response is closed (R2). */
  useFor(response: Pick<ServerResponse, 'once'>): void {
    if (this.#memory === null) return
    this.#users++
    response.once('close', () => this.#endUse())
  }

  /** Lets the memory be used for another answer (R1). */
  release(): void {
    if (this.#memory === null || this.#isReleased) return
    this.#isReleased = true
    this.#recycleSoon()
  }

  #endUse(): void {
    this.#users--
    if (this.#isReleased) this.#recycleSoon()
  }

  /** Recycles the memory once all microtasks have run, in which another response may begin to use it. */
  #recycleSoon(): void {
    setImmediate(() => {
      if (this.#users > 0 || this.#memory === null) return
      renderingMemory.give(this.#memory)
      this.#memory = null
      this.#payload = null
    })
  }

  get bytes(): Buffer {
    const { payload } = this
    return typeof payload === 'string' ? Buffer.from(payload) : payload
  }

  /** Whether the body is short, and sent as text. */
  get isText(): boolean {
    return typeof this.#payload === 'string'
  }

  /** The gzip form; null until `pack` has made it. */
  get packed(): Buffer | null {
    return this.#packed
  }

  /** Compresses the body off the event loop. */
  async pack(): Promise<Buffer> {
    this.#users++
    try {
      return (this.#packed ??= withoutRest(await compress(this.payload, { level: 1 })))
    } finally {
      this.#endUse()
    }
  }

  /** Bytes held in memory. */
  get size(): number {
    return (this.#memory?.length ?? this.length) + (this.#packed?.length ?? 0)
  }
}

/**
 * Returns the entity tag of long bytes: a checksum of 128 bits, the authentication tag of AES-GCM without a text. A page of
 * 170 KB takes 8 µs, and 82 with SHA-1. Small texts take less time with SHA-1.
 */
function longTag(bytes: Buffer): string {
  const cipher = createCipheriv('aes-128-gcm', TAG_KEY, TAG_NONCE)
  cipher.setAAD(bytes)
  cipher.final()
  return cipher.getAuthTag().toString('base64url')
}

/** Allocates outside Node's pool, where a small cached answer would keep a whole slab alive. */
function bytesOf(text: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length)
  // ASCII is copied unchanged, in half of the time.
  bytes.write(text, length === text.length ? 'latin1' : 'utf8')
  return bytes
}

/** Copies short gzip output: zlib returns a slice of a 16 KB buffer, which would stay in memory with the slice. */
function withoutRest(packed: Buffer): Buffer {
  if (packed.buffer.byteLength === packed.length) return packed
  const bytes = Buffer.allocUnsafeSlow(packed.length)
  packed.copy(bytes)
  return bytes
}
