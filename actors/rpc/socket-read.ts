import type { AnswerBody, BodySource } from '../../src/node/answer-body.ts'

/** A read that waits for a socket, or is on its way through one. */
export class SocketRead implements BodySource {
  /** The bytes of the request as text. */
  readonly request: string
  readonly answer: AnswerBody
  /** Sends the read by a complete HTTP client. */
  readonly resend: () => void
  readonly #leave: (read: SocketRead) => void
  /** The socket that carries it; null before and after. */
  socket: BodySource | null = null

  /** `leave` takes the read out of the queue. */
  constructor(request: string, answer: AnswerBody, resend: () => void, leave: (read: SocketRead) => void) {
    this.request = request
    this.answer = answer
    this.resend = resend
    this.#leave = leave
  }

  abort(reason: Error): void {
    if (this.socket === null) this.#leave(this)
    else this.socket.abort(reason)
  }

  pause(): void {
    this.socket?.pause()
  }

  resume(): void {
    this.socket?.resume()
  }
}
