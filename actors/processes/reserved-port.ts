import { once } from 'node:events'
import { createServer } from 'node:net'
import { Listening } from '../edge/listening.ts'

/** A port that is kept for processes that will share it. */
export interface ReservedPort extends Disposable {
  readonly port: number
  /** Leaves the port to them. Until then the system gives this process a part of the connections, which it ends. */
  readonly release: () => void
}

/**
 * Reserves a port; 0 picks a free one. Returns the reason in one line if it cannot be listened on, or if the operating system
 * does not spread the connections of a port over several processes.
 */
export async function reservePort(host: string, port: number): Promise<ReservedPort | string> {
  const server = createServer((socket) => socket.destroy())
  const release = (): void => void server.close()
  const refusal = await new Listening().refusal(host, port, async () => {
    server.listen({ host, port, reusePort: true })
    await once(server, 'listening')
  })
  if (refusal !== null) return refusal
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a TCP server has an address')
  return { port: bound.port, release, [Symbol.dispose]: release }
}
