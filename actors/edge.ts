import { KeyDirectory } from '../src/access/key-directory.ts'
import { buildApp, type AppDeps } from '../src/http/app.ts'
import type { Storage } from '../storage/port.ts'
import { sleep } from '../src/ports.ts'
import { aborted } from './aborted.ts'
import { Connections } from './connections.ts'
import type { Run } from './process.ts'

/** How long a drain hears out connections whose request is still on its way. Chosen. */
const GRACE_MS = 500

export interface EdgeOptions {
  readonly host: string
  /** 0 picks a free one, which later instances keep. */
  readonly port: number
  /** Of a key that has no rate of its own. */
  readonly ratePerMinute: number
  /** Called at each start, with the port that is listened on. */
  readonly onListening: (port: number) => void
}

/** The process that answers HTTP: it drains first, and answers what it has accepted before it ends. */
export function edge(
  { host, port, ratePerMinute, onListening }: EdgeOptions,
  deps: Omit<AppDeps, 'storage' | 'keys' | 'draining'>
): Run<{ readonly storage: Storage }> {
  let bound = port
  return async ({ input, draining, signal, ready, gauge }) => {
    const { storage } = input
    const keys = await KeyDirectory.load(storage, ratePerMinute)
    const app = buildApp({ ...deps, storage, keys, draining: () => draining.aborted })
    const connections = new Connections(app.server)
    try {
      await app.listen({ host, port: bound })
      const at = app.server.address()
      if (at !== null && typeof at === 'object') bound = at.port
      gauge('connections', () => connections.size)
      onListening(bound)
      ready()
      await aborted(draining)
    } finally {
      const terminate = (): void => app.server.closeAllConnections()
      signal.addEventListener('abort', terminate)
      if (signal.aborted) terminate()
      void sleep(deps.clock, GRACE_MS, signal).then(() => connections.endWhenIdle())
      await app.close()
    }
  }
}
