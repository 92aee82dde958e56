import { createGunzip, type Gunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import type { AnswerBytes, AnswerMemory } from '../../src/kernel/memory/answer-memory.ts'
import { endedPieces } from '../../src/rpc/ended-pieces.ts'

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]

/** The connection that a body arrives on. */
export interface BodySource {
  abort(reason: Error): void
  pause(): void
  resume(): void
}

/** The beginning of a response, or the whole of a short one. */
export interface ResponseStart {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  /** Null if `bytes` is the whole body. */
  readonly rest: ResponseRest | null
}

/** The rest of a long response. Read it once, or call `abort`. */
export interface ResponseRest {
  /** The length of the whole body; null if the node does not state it. */
  readonly lengthTotal: number | null
  /** Yields the rest of the body, and ends the request if it is left early. Throws where the node breaks off. */
  chunks(): AsyncGenerator<Buffer>
  abort(reason?: Error): void
}

/** Maximum bytes buffered for a slow reader; reading from the node pauses above it. */
const AHEAD_BYTES_MAX = 256 * 1024

/** Thrown if a body is longer than allowed. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
}

/**
 * Receives a response: up to `windowBytes` of its body are awaited, and the rest is read as fast as its reader takes it.
 * `started` is called once, with the beginning or an error.
 */
export class AnswerBody implements Dispatcher.DispatchHandler {
  readonly #windowBytes: number
  readonly #bytesMax: number
  readonly #started: (outcome: ResponseStart | Error) => void
  #controller: BodySource | null = null
  #gunzip: Gunzip | null = null
  #status = 0
  #headers: Headers = {}
  #chunks: Buffer[] = []
  /** The bytes of the chunks. */
  readonly #held: AnswerBytes
  #totalBytes = 0
  #hasStarted = false
  #hasEnded = false
  #error: Error | null = null
  #wake: (() => void) | null = null

  constructor(
    {
      windowBytes,
      bytesMax,
      memory
    }: { readonly windowBytes: number; readonly bytesMax: number; readonly memory: AnswerMemory },
    started: (outcome: ResponseStart | Error) => void
  ) {
    this.#windowBytes = windowBytes
    this.#bytesMax = bytesMax
    this.#started = started
    this.#held = memory.open((error) => {
      this.#controller?.abort(error)
      this.#fail(error)
    })
  }

  /** Ends the request. Its reader gets the reason. */
  abort(reason: Error): void {
    this.#held.close()
    if (this.#hasEnded) return
    this.#controller?.abort(reason)
    this.#fail(reason)
  }

  onRequestStart(controller: BodySource): void {
    this.#controller = controller
    if (this.#error !== null) controller.abort(this.#error)
  }

  onResponseStart(_: BodySource, status: number, headers: Headers): void {
    this.#status = status
    this.#headers = headers
    if (headers['content-encoding'] === 'gzip') this.#unpack()
  }

  onResponseData(controller: BodySource, chunk: Buffer): void {
    if (this.#gunzip === null) return this.#take(chunk)
    if (this.#gunzip.write(chunk)) return
    controller.pause()
    this.#gunzip.once('drain', () => controller.resume())
  }

  onResponseEnd(): void {
    if (this.#gunzip === null) this.#end()
    else this.#gunzip.end()
  }

  onResponseError(_: BodySource | null, error: Error): void {
    this.#fail(error)
  }

  #unpack(): void {
    const gunzip = createGunzip()
    this.#gunzip = gunzip
    gunzip.on('data', (chunk: Buffer) => this.#take(chunk))
    gunzip.on('end', () => this.#end())
    gunzip.on('error', (error) => {
      this.#controller?.abort(error)
      this.#fail(error)
    })
  }

  #take(chunk: Buffer): void {
    if (this.#hasEnded) return
    this.#totalBytes += chunk.length
    if (this.#totalBytes > this.#bytesMax) {
      const error = new BodyTooLong(`more than ${this.#bytesMax} bytes`)
      this.#controller?.abort(error)
      return this.#fail(error)
    }
    this.#chunks.push(chunk)
    this.#held.add(chunk.length)
    // The answer may be the one that was refused.
    if (this.#error !== null) return
    if (!this.#hasStarted && this.#held.bytes > this.#windowBytes) this.#start()
    else if (this.#hasStarted) this.#wakeReader()
    if (this.#hasStarted && this.#held.bytes > AHEAD_BYTES_MAX) (this.#gunzip ?? this.#controller)?.pause()
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (!this.#hasStarted) this.#start()
    if (this.#chunks.length === 0) this.#held.close()
    this.#wakeReader()
  }

  #fail(error: Error): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#error = error
    this.#chunks = []
    this.#held.close()
    this.#gunzip?.destroy()
    if (!this.#hasStarted) {
      this.#hasStarted = true
      this.#started(error)
    }
    this.#wakeReader()
  }

  #start(): void {
    this.#hasStarted = true
    const chunks = this.#takeChunks()
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    const length = this.#gunzip === null ? Number(this.#headers['content-length']) : Number.NaN
    const rest: ResponseRest | null = this.#hasEnded
      ? null
      : {
          lengthTotal: Number.isSafeInteger(length) ? length : null,
          chunks: () => endedPieces(this.#rest(), () => this.abort(new Error('the reader has left'))),
          abort: (reason = new Error('the answer is no longer read')) => this.abort(reason)
        }
    this.#started({ status: this.#status, headers: this.#headers, bytes, rest })
  }

  async *#rest(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        if (this.#error !== null) throw this.#error
        if (this.#chunks.length > 0) {
          const chunks = this.#takeChunks()
          ;(this.#gunzip ?? this.#controller)?.resume()
          // One by one: joining them would copy the whole answer once more.
          yield* chunks
        } else if (this.#hasEnded) return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.abort(new Error('the reader has left'))
    }
  }

  #takeChunks(): Buffer[] {
    const chunks = this.#chunks
    this.#chunks = []
    this.#held.add(-this.#held.bytes)
    if (this.#hasEnded) this.#held.close()
    return chunks
  }

  #wakeReader(): void {
    this.#wake?.()
    this.#wake = null
  }
}
