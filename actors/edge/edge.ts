import type { FastifyInstance } from 'fastify'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import { followKeys } from '../../src/access/key-following.ts'
import type { HintChannel } from '../../storage/cluster/coordination.ts'
import type { Handle } from '../../src/kernel/compose/handle.ts'
import type { HttpKernel } from '../../src/kernel/http/http-kernel.ts'
import type { Storage } from '../../storage/port.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { aborted } from '../supervision/aborted.ts'
import { cacheGauges } from '../storage/cache-gauges.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { HandshakePort } from '../../src/kernel/config/handshake-port.ts'
import type { HandshakeListener } from './handshake-listener.ts'
import { HandshakeOpening } from './handshake-opening.ts'
import { Listening } from './listening.ts'
import type { RpcSockets } from '../rpc/pubsub/rpc-sockets.ts'
import type { Tenants } from '../stream/tenants.ts'
import { isOutage, retryWhileUnavailable } from '../storage/retry.ts'
import type { Run } from '../supervision/process.ts'

/**
 * Milliseconds that a drain waits for requests in flight. Answers take milliseconds; a longer grace delays each restart by
 * as much.
 */
const GRACE_MS = 500
/**
 * Pending TCP connections. Clients that reconnect after a restart arrive at once; the operating system may cap this
 * lower.
 */
const BACKLOG = 4_096

export interface EdgeOptions<Needs> {
  readonly host: string
  /** 0 picks a free port, which later instances of the process reuse. */
  readonly port: number
  /** Whether other processes listen on the same port: the operating system spreads connections over all. */
  readonly isPortShared: boolean
  /** Default requests a minute of a key. */
  readonly ratePerMinute: number
  /** Units of work a minute: the default of a key, and of all keys of a tenant. */
  readonly workPerMinute: number
  /** Called at each start with the port that the server listens on. */
  readonly onListening: (port: number) => void
  /** The port for handshakes alone, if the process serves the RPC URL's socket. */
  readonly handshakePort: HandshakePort
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly clock: Clock
  /** The channel on which processes that share the store announce changes of keys, or null. */
  readonly keyHints: (needs: Needs) => Pick<HintChannel<void>, 'publish' | 'subscribe' | 'available'> | null
  /** The owners of the stream's connections and of the RPC URL's, which the drain closes. */
  readonly tenants: Handle<Tenants>
  readonly rpcSockets: Handle<RpcSockets>
  /** Whether the process serves the RPC URL's socket. */
  readonly hasRpcSockets: boolean
  /** Tells whether the process was asked to stop. It answers until the drain begins. */
  readonly isLeaving: () => boolean
  /** Builds the app to be served; the app does not listen yet. */
  readonly build: (needs: Needs, own: Pick<HttpKernel, 'keys' | 'draining' | 'leaving'>) => FastifyInstance
}

/**
 * Runs the HTTP server. A drain stops accepting connections and answers accepted requests before the process returns.
 */
export function edge<Needs extends { readonly storage: Storage }>(options: EdgeOptions<Needs>): Run<Needs> {
  const { host, isPortShared: reusePort, clock, onListening } = options
  let bound = options.port
  const listening = new Listening()
  const handshakes = new HandshakeOpening({ ...options, backlog: BACKLOG })
  return async ({ input, draining, signal, ready, gauge, report }) => {
    const { storage } = input
    const owners = [options.tenants, options.rpcSockets]
    const { isShared } = storage
    const hints = options.keyHints(input)
    const others = isShared ? { publish: () => hints?.publish() } : null
    const keys = await retryWhileUnavailable(storage, clock)(
      () => KeyDirectory.load(storage, options.ratePerMinute, others, options.workPerMinute),
      draining
    )
    for (const { current } of owners) current?.guard(keys)
    const unguard = owners.map((owner) => owner.onChange((current) => current?.guard(keys)))
    const app = options.build(input, {
      keys,
      draining: () => draining.aborted,
      leaving: () => draining.aborted || options.isLeaving()
    })
    const { connections } = app
    const closing = new AbortController()
    // The storage process logs outages of the store itself.
    const tell = (error: Error): void => void (isOutage(error) || report(error))
    const following = isShared
      ? followKeys(keys, { clock, hints, signal: closing.signal, report: tell })
      : Promise.resolve()
    let listener: HandshakeListener | null = null
    try {
      // Fastify passes on `reusePort`, which its types lack.
      const place = { host, port: bound, backlog: BACKLOG, reusePort }
      await listening.at(host, bound, () => app.listen(place))
      const at = app.server.address()
      if (at !== null && typeof at === 'object') bound = at.port
      listener = await handshakes.open(app, bound, options.hasRpcSockets)
      gauge('connections', () => connections.size)
      for (const [name, cache] of app.caches) {
        gauge(`${name}s`, () => cache.size)
        cacheGauges(gauge, name, () => cache)
      }
      gauge('work_running', () => app.turns.running)
      gauge('work_waiting', () => app.turns.waiting)
      gauge('work_tenants', () => app.turns.tenants)
      onListening(bound)
      ready()
      await aborted(draining)
    } finally {
      const terminate = (): void => app.server.closeAllConnections()
      signal.addEventListener('abort', terminate)
      if (signal.aborted) terminate()
      for (const each of unguard) each()
      await Promise.all(owners.map(async ({ current }) => current?.drain(signal)))
      void sleep(clock, GRACE_MS, signal).then(() => connections.endWhenIdle())
      await Promise.all([app.close(), listener?.close()])
      closing.abort()
      // A key poll may still wait for an unavailable store; shutdown does not wait for it any longer than this.
      await Promise.race([following, sleep(clock, GRACE_MS, signal)])
    }
  }
}
