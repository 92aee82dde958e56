import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** The connections of a server, and how many requests each has under way. */
export class Connections {
  readonly #underWay = new Map<Socket, number>()
  #ending = false

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#underWay.set(socket, 0)
      socket.once('close', () => this.#underWay.delete(socket))
    })
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1)
      response.once('close', () => {
        this.#count(socket, -1)
        if (this.#ending) this.#endIdle(socket)
      })
    })
  }

  get size(): number {
    return this.#underWay.size
  }

  /**
   * Ends every connection on which no answer is under way, and the others with their last answer. The server's own
   * `closeIdleConnections` spares those that have not sent a whole request yet, and those that become idle later.
   */
  endWhenIdle(): void {
    this.#ending = true
    for (const socket of this.#underWay.keys()) this.#endIdle(socket)
  }

  #count(socket: Socket, change: 1 | -1): void {
    const before = this.#underWay.get(socket)
    if (before !== undefined) this.#underWay.set(socket, before + change)
  }

  #endIdle(socket: Socket): void {
    if (this.#underWay.get(socket) === 0) socket.destroySoon()
  }
}
