import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** Clients that connect at once; a validator takes 50 ms to answer each. */
const AT_ONCE = 50
/** Milliseconds without a notification after which all count as received: slots of a busy machine take half a second. */
const QUIET_MS = 2_000
const POLL_INTERVAL_MS = 50
/** Milliseconds until clients that still differ have lost something. */
const SETTLE_MS = 30_000

/**
 * Clients that subscribe to one account, and note the slot of each notification. They are compared once the account no
 * longer changes, not at a moment under load. An event loop that is behind reads several notifications of its first socket
 * before the last socket.
 */
export class Audience {
  readonly #slots: number[][] = []
  readonly #sockets: WebSocket[] = []
  #heardAtMs = 0
  #fault: Error | null = null
  #isOver = false

  /** Connects and subscribes. The account must not change meanwhile. */
  async open(url: string, clients: number, address: string): Promise<void> {
    for (let from = 0; from < clients; from += AT_ONCE) {
      const count = Math.min(AT_ONCE, clients - from)
      await Promise.all(Array.from({ length: count }, (_, at) => this.#join(url, from + at, address)))
    }
  }

  /** Notifications that all clients have received. */
  get heard(): number {
    return this.#slots.reduce((sum, { length }) => sum + length, 0)
  }

  /** The time of the last notification, in milliseconds of `performance.now`. */
  get heardAtMs(): number {
    return this.#heardAtMs
  }

  /**
   * Waits until the clients have received everything. Rejects if a client's slots differ from the others', or if it
   * was closed. The account must no longer change.
   */
  async settled(): Promise<void> {
    const startedMs = performance.now()
    for (;;) {
      await sleep(POLL_INTERVAL_MS)
      if (this.#fault !== null) throw this.#fault
      const nowMs = performance.now()
      const first = String(this.#slots[0])
      const different = this.#slots.filter((slots) => String(slots) !== first).length
      if (different === 0 && nowMs - Math.max(startedMs, this.#heardAtMs) >= QUIET_MS) return
      if (nowMs - startedMs > SETTLE_MS)
        throw new Error(`${different} of ${this.#slots.length} clients heard other slots than the first`)
    }
  }

  async close(): Promise<void> {
    this.#isOver = true
    for (const socket of this.#sockets) socket.terminate()
    await sleep(500)
  }

  async #join(url: string, at: number, address: string): Promise<void> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    this.#sockets.push(socket)
    await once(socket, 'open')
    const slots: number[] = []
    this.#slots[at] = slots
    const answered = Promise.withResolvers<void>()
    let isAnswered = false
    socket.on('close', (code: number) => {
      if (!this.#isOver) this.#fault ??= new Error(`client ${at} was closed with ${code}`)
    })
    socket.on('message', (data: Buffer) => {
      if (isAnswered) return this.#hear(slots, data)
      isAnswered = true
      if (data.includes('"result":')) answered.resolve()
      else answered.reject(new Error(data.toString()))
    })
    const params = [address, { encoding: 'base64', commitment: 'processed' }]
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'accountSubscribe', params }))
    await answered.promise
  }

  #hear(slots: number[], data: Buffer): void {
    const slot = Number(/"slot":(\d+)/.exec(data.toString('latin1', 0, 200))?.[1] ?? Number.NaN)
    if (!(slot >= (slots.at(-1) ?? 0))) this.#fault ??= new Error(`slot ${slot} after ${slots.at(-1)}`)
    slots.push(slot)
    this.#heardAtMs = performance.now()
  }
}
