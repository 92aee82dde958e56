import { IN_PROGRESS_MAX, MESSAGES_WAITING_MAX } from '../../../src/rpc/pubsub/socket-limits.ts'

export interface WaitingMessagesDeps {
  /** Begins a message, and counts its requests with `began` and `ended`. */
  readonly begin: (message: Buffer) => void
  /** Runs work when it is the tenant's turn. */
  readonly inTurn: (work: () => void) => Promise<void>
  readonly pause: (isPaused: boolean) => void
  /** More messages wait than may. */
  readonly flooded: () => void
  readonly report: (fault: unknown) => void
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal
}

/** The messages of one connection that wait, because the maximum of its requests is in progress. */
export class WaitingMessages {
  readonly #deps: WaitingMessagesDeps
  readonly #messages: Buffer[] = []
  #inProgress = 0
  #isPaused = false
  #isResuming = false

  constructor(deps: WaitingMessagesDeps) {
    this.#deps = deps
  }

  /** Whether no messages are read, because the maximum of requests is in progress. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Begins a message, or lets it wait. */
  receive(message: Buffer): void {
    const { begin, flooded } = this.#deps
    if (this.#inProgress < IN_PROGRESS_MAX && this.#messages.length === 0) return begin(message)
    if (this.#messages.push(message) > MESSAGES_WAITING_MAX) return flooded()
    this.#pause(true)
  }

  began(requests: number): void {
    this.#inProgress += requests
  }

  ended(requests: number): void {
    this.#inProgress -= requests
    this.#resume()
  }

  /** Begins the messages that wait, each in a turn: hundreds may have come at once, and be answered at once. */
  #resume(): void {
    if (this.#messages.length === 0 && this.#inProgress < IN_PROGRESS_MAX) this.#pause(false)
    if (this.#isResuming || !this.#hasNext) return
    this.#isResuming = true
    const { begin, inTurn, report, signal } = this.#deps
    inTurn(() => {
      this.#isResuming = false
      if (this.#hasNext) begin(this.#messages.shift()!)
    })
      .then(() => this.#resume())
      .catch((fault: unknown) => {
        if (!signal.aborted) report(fault)
      })
  }

  /** Whether the next message may begin. */
  get #hasNext(): boolean {
    return this.#messages.length > 0 && this.#inProgress < IN_PROGRESS_MAX && !this.#deps.signal.aborted
  }

  #pause(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return
    this.#isPaused = isPaused
    this.#deps.pause(isPaused)
  }
}
