import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/** The transport of a connection's frames. */
export interface Pipe {
  /** Writes frames in order, as one write. False when the socket's buffer is full: wait until it has drained. */
  write(frames: readonly Buffer[]): boolean
  /** Whether everything written has been sent. */
  readonly isSent: boolean
  /** Closes after the written frames, and terminates when the other side does not answer. */
  close(code: number, reason: string): void
  /** Sends a ping. */
  ping(): void
  /** Ends the connection at once. */
  terminate(): void
}

/**
 * Milliseconds that the client may take to answer a close. A round trip is far shorter; a frozen client holds a socket for
 * as long.
 */
const CLOSE_MS = 2_000

/**
 * A client's WebSocket. The stream encodes its frames itself and writes them directly to the socket, one write for
 * all frames of a turn. `ws` reads the client's messages and writes control frames between ours, each whole.
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
    // A client that reads nothing does not answer the close either.
    setTimeout(() => this.#ws.terminate(), CLOSE_MS).unref()
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping()
  }

  terminate(): void {
    this.#ws.terminate()
  }
}
