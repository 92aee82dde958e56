import type { Dispatcher } from 'undici'
import type { Clock } from '../../src/ports.ts'
import { postErrorOf, type PostError } from '../../src/webhooks/post-error.ts'
import { retryAfterMs } from '../../src/webhooks/retry-after.ts'
import type { PostOutcome } from '../../src/webhooks/webhook.ts'

export interface PostAttemptOptions {
  readonly clock: Clock
  /** Aborts the attempt, also while it waits for its start. */
  readonly signal: AbortSignal
  /** Milliseconds that it may wait for its start; without a limit by default. */
  readonly waitMs?: number | undefined
  /** Milliseconds from the start, the resolution of the host included, to the last byte of the answer. */
  readonly deadlineMs: number
  /** Bytes of the answer's body that are read before the connection is closed. */
  readonly answerBytesMax: number
}

export interface AttemptRequest extends Dispatcher.DispatchOptions {
  readonly body: Uint8Array
}

/** The connection that an attempt is made on. */
export interface AttemptClient {
  /** Whether the system has taken over all bytes that were written. */
  readonly isFlushed: boolean
}

/** One POST, from its wait for a place to the end of its answer. */
export class PostAttempt implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<PostOutcome>
  /** Set by the connection that sends it. */
  client: AttemptClient | null = null
  readonly #options: PostAttemptOptions
  readonly #resolve: (outcome: PostOutcome) => void
  readonly #abort = (): void => this.end('aborted')
  #startedMs: number | null = null
  #timer: unknown = null
  #controller: Dispatcher.DispatchController | null = null
  #body: Uint8Array | null = null
  #status = 0
  #retryAfterMs: number | null = null
  #bytes = 0
  #isDone = false

  constructor(options: PostAttemptOptions) {
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<PostOutcome>()
    this.outcome = promise
    this.#resolve = resolve
    options.signal.addEventListener('abort', this.#abort)
    const { clock, waitMs } = options
    if (waitMs !== undefined) this.#timer = clock.setTimeout(() => this.end('too_many_posts'), waitMs)
    if (options.signal.aborted) this.end('aborted')
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** Starts the deadline, and sends the request. */
  start(dispatcher: Dispatcher, request: AttemptRequest): void {
    if (this.#isDone) return
    this.#body = request.body
    const { clock, deadlineMs } = this.#options
    clock.clearTimeout(this.#timer)
    this.#startedMs = performance.now()
    this.#timer = clock.setTimeout(() => this.end('timeout'), deadlineMs)
    try {
      dispatcher.dispatch(request, this)
    } catch (error) {
      this.end(postErrorOf(error))
    }
  }

  /** Ends the attempt early; its connection is destroyed. No effect on one that has ended. */
  end(error: PostError): void {
    this.#done(error)
    this.#cut()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The attempt ended while its connection was opened.
    if (this.#isDone) this.#cut()
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>
  ): void {
    this.#status = status
    this.#retryAfterMs = retryAfterMs(headers['retry-after'], this.#options.clock.now())
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes <= this.#options.answerBytesMax) return
    this.#done(null)
    this.#cut()
  }

  onResponseEnd(): void {
    this.#done(null)
    // A receiver may answer before it has read the body: then the socket still refers to it.
    if (this.client?.isFlushed === true) free(this.#body!)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#done(postErrorOf(error))
  }

  #done(error: PostError | null): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#options.clock.clearTimeout(this.#timer)
    this.#options.signal.removeEventListener('abort', this.#abort)
    const durationMs = this.#startedMs === null ? 0 : Math.round(performance.now() - this.#startedMs)
    this.#resolve(
      error === null
        ? { kind: 'answered', status: this.#status, retryAfterMs: this.#retryAfterMs, durationMs }
        : { kind: 'failed', error, durationMs }
    )
  }

  #cut(): void {
    this.#controller?.abort(new Error('the attempt has ended'))
  }
}

/**
 * Frees the memory of a body, unless it is a part of memory that others use too. Otherwise bodies that wait for the garbage
 * collector cause collections of the whole heap, at half of the cost of a delivery.
 */
function free({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
