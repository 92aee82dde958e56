import type { Socket } from 'node:net'
import type { buildConnector, Client as UndiciClient, Dispatcher } from 'undici'
import { Client } from '../../src/node/undici.ts'
import { PostAttempt } from './post-attempt.ts'

export interface SocketClientOptions extends UndiciClient.Options {
  readonly connect: buildConnector.connector
}

/** A connection of a pool that tells each attempt whether the socket still has bytes of it to write. */
export class SocketClient extends Client {
  readonly #connection: { socket: Socket | null }

  constructor(origin: URL, options: SocketClientOptions) {
    const connection: { socket: Socket | null } = { socket: null }
    const connect: buildConnector.connector = (target, callback) =>
      options.connect(target, (...answer) => {
        connection.socket = answer[1]
        callback(...answer)
      })
    super(origin, { ...options, connect })
    this.#connection = connection
  }

  /** Whether the system has taken over all bytes that were written. */
  get isFlushed(): boolean {
    return this.#connection.socket?.writableLength === 0
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof PostAttempt) handler.client = this
    return super.dispatch(options, handler)
  }
}
