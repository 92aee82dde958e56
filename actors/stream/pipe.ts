import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/** Where a connection's frames go. */
export interface Pipe {
  /** Writes frames in order, together; false when it wants no more until it has sent these. */
  write(frames: readonly Buffer[]): boolean
  /** Whether all that was written has been sent. */
  readonly isSent: boolean
  /** Closes after what was written, and for good when the other side does not answer. */
  close(code: number, reason: string): void
  /** Asks whether the other side is still there. */
  ping(): void
  /** Ends it at once. */
  terminate(): void
}

/** How long the other side may take to answer a close. Chosen. */
const CLOSE_MS = 2_000

/**
 * A client's socket. Frames are made by the stream itself and go straight to the socket, a write for all that is owed in
 * a turn; `ws` reads what the client sends, and writes the frames of control between ours, each whole.
 */
export class SocketPipe implements Pipe {
  readonly #ws: WebSocket
  readonly #socket: Socket

  constructor(ws: WebSocket, socket: Socket) {
    this.#ws = ws
    this.#socket = socket
  }

  get isSent(): boolean {
    return this.#socket.writableLength === 0
  }

  write(frames: readonly Buffer[]): boolean {
    if (this.#ws.readyState !== this.#ws.OPEN) return true
    if (frames.length === 1) return this.#socket.write(frames[0]!)
    this.#socket.cork()
    for (const frame of frames) this.#socket.write(frame)
    this.#socket.uncork()
    return !this.#socket.writableNeedDrain
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason)
    // One that reads nothing does not answer either.
    setTimeout(() => this.#ws.terminate(), CLOSE_MS).unref()
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping()
  }

  terminate(): void {
    this.#ws.terminate()
  }
}
