import type { FastifyInstance } from 'fastify'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import { followKeys } from '../../src/access/key-following.ts'
import type { HintChannel } from '../../storage/coordination.ts'
import type { AppDeps } from '../../src/http/deps.ts'
import type { Storage } from '../../storage/port.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { aborted } from '../supervision/aborted.ts'
import { cacheGauges } from '../storage/cache-gauges.ts'
import { Listening } from './listening.ts'
import type { Tenants } from '../stream/tenants.ts'
import { isOutage, patienceWith } from '../storage/patience.ts'
import type { Run } from '../supervision/process.ts'

/** How long a drain hears out connections whose request is still on its way. Chosen. */
const GRACE_MS = 500
/** Connections that wait to be taken: those that come back after a restart come at once. The system has its own limit. */
const BACKLOG = 4_096

export interface EdgeOptions<Needs> {
  readonly host: string
  /** 0 picks a free one, which later instances keep. */
  readonly port: number
  /** Of a key that has no rate of its own. */
  readonly ratePerMinute: number
  /** Called at each start, with the port that is listened on. */
  readonly onListening: (port: number) => void
  readonly clock: Clock
  /** How other processes that have the same store are told of changes to keys; null where there are none. */
  readonly keyHints: (needs: Needs) => Pick<HintChannel<void>, 'tell' | 'follow' | 'available'> | null
  /** The app that is served; it does not listen yet. */
  readonly build: (needs: Needs, own: Pick<AppDeps, 'keys' | 'draining'>) => FastifyInstance
}

/** The process that answers HTTP: it drains first, and answers what it has accepted before it ends. */
export function edge<Needs extends { readonly storage: Storage; readonly tenants?: Tenants }>(
  options: EdgeOptions<Needs>
): Run<Needs> {
  const { host, clock, onListening } = options
  let bound = options.port
  const listening = new Listening()
  return async ({ input, draining, signal, ready, gauge, report }) => {
    const { storage, tenants } = input
    const { isShared } = storage
    const hints = options.keyHints(input)
    const others = isShared ? { tell: () => hints?.tell() } : null
    const keys = await patienceWith(storage, clock)(
      () => KeyDirectory.load(storage, options.ratePerMinute, others),
      draining
    )
    tenants?.guard(keys)
    const app = options.build(input, { keys, draining: () => draining.aborted })
    const { connections } = app
    const closing = new AbortController()
    // That the store does not answer is said by the process that owns it.
    const tell = (error: Error): void => void (isOutage(error) || report(error))
    const following = isShared
      ? followKeys(keys, { clock, hints, signal: closing.signal, report: tell })
      : Promise.resolve()
    try {
      await listening.at(host, bound, () => app.listen({ host, port: bound, backlog: BACKLOG }))
      const at = app.server.address()
      if (at !== null && typeof at === 'object') bound = at.port
      gauge('connections', () => connections.size)
      gauge('kept_answers', () => app.answers.size)
      cacheGauges(gauge, 'kept_answer', () => app.answers)
      onListening(bound)
      ready()
      await aborted(draining)
    } finally {
      const terminate = (): void => app.server.closeAllConnections()
      signal.addEventListener('abort', terminate)
      if (signal.aborted) terminate()
      await tenants?.drain(signal)
      void sleep(clock, GRACE_MS, signal).then(() => connections.endWhenIdle())
      await app.close()
      closing.abort()
      // What it still asks of a store that is away concerns nobody.
      await Promise.race([following, sleep(clock, GRACE_MS, signal)])
    }
  }
}
