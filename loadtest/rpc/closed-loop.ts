import { createConnection, type Socket } from 'node:net'
import { once } from 'node:events'

/** Bodies to post: the next one each time it is called. */
export type Bodies = () => string

export interface LoopResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/**
 * Posts in a closed loop over a number of connections: each sends its next request when its last one is answered. Throws for
 * an answer other than HTTP 200, or without a result. It parses HTTP itself, because a client library costs more than a
 * proxy.
 */
export async function closedLoop(
  url: string,
  next: Bodies,
  { connections, seconds }: { readonly connections: number; readonly seconds: number }
): Promise<LoopResult> {
  const at = new URL(url)
  const latencies: number[] = []
  const startedMs = performance.now()
  const untilMs = startedMs + seconds * 1_000
  const loops = Array.from({ length: connections }, async () => {
    const socket = createConnection({ host: at.hostname, port: Number(at.port), noDelay: true })
    await once(socket, 'connect')
    const reader = new ResponseReader(socket)
    while (performance.now() < untilMs) {
      const sentMs = performance.now()
      socket.write(requestOf(at, next()))
      await reader.next()
      latencies.push(performance.now() - sentMs)
    }
    socket.destroy()
  })
  await Promise.all(loops)
  const took = (performance.now() - startedMs) / 1_000
  latencies.sort((a, b) => a - b)
  return {
    requests: latencies.length,
    perSecond: latencies.length / took,
    p50Ms: latencies[Math.floor(latencies.length / 2)]!,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)]!
  }
}

function requestOf({ pathname, search, host }: URL, body: string): string {
  return `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Reads responses one by one. */
class ResponseReader {
  #bytes: Buffer = Buffer.alloc(0)
  #settle: { resolve: () => void; reject: (reason: Error) => void } | null = null

  constructor(socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
      this.#check()
    })
    const lost = (): void => this.#settle?.reject(new Error('the connection was closed'))
    socket.on('error', lost)
    socket.on('close', lost)
  }

  next(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
  }

  #check(): void {
    const end = this.#bytes.indexOf('\r\n\r\n')
    if (end < 0 || this.#settle === null) return
    const head = this.#bytes.toString('latin1', 0, end)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN)
    if (!(this.#bytes.length >= end + 4 + length)) return
    const body = this.#bytes.toString('latin1', end + 4, end + 4 + Math.min(length, 200))
    const { resolve, reject } = this.#settle
    this.#bytes = this.#bytes.subarray(end + 4 + length)
    this.#settle = null
    if (!head.startsWith('HTTP/1.1 200') || !body.includes('"result"')) reject(new Error(`${head}\n${body}`))
    else resolve()
  }
}
