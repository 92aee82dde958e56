import { buildApp, type AppDeps } from '../src/http/app.ts'
import type { Storage } from '../storage/port.ts'
import { aborted } from './aborted.ts'
import type { Run } from './process.ts'

export interface EdgeOptions {
  readonly host: string
  /** 0 picks a free one, which later instances keep. */
  readonly port: number
  /** Called at each start, with the port that is listened on. */
  readonly onListening: (port: number) => void
}

/** The process that answers HTTP: it drains first, and answers what it has accepted before it ends. */
export function edge(
  { host, port, onListening }: EdgeOptions,
  deps: Omit<AppDeps, 'storage' | 'draining'>
): Run<{ readonly storage: Storage }> {
  let bound = port
  return async ({ input, draining, signal, ready, gauge }) => {
    const app = buildApp({ ...deps, storage: input.storage, draining: () => draining.aborted })
    try {
      await app.listen({ host, port: bound })
      const at = app.server.address()
      if (at !== null && typeof at === 'object') bound = at.port
      let connections = 0
      app.server.on('connection', (socket) => {
        connections++
        socket.once('close', () => connections--)
      })
      gauge('connections', () => connections)
      onListening(bound)
      ready()
      await aborted(draining)
    } finally {
      const terminate = (): void => app.server.closeAllConnections()
      signal.addEventListener('abort', terminate)
      if (signal.aborted) terminate()
      await app.close()
    }
  }
}
