import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import { KEYS_MAX } from '../access/key-directory.ts'
import { RateWindow } from '../access/rate-window.ts'
import { SharedRate } from '../access/shared-rate.ts'
import { SharedSockets } from '../access/shared-sockets.ts'
import { PROCESSES_ASSUMED } from '../access/shared-work.ts'
import type { Config } from '../kernel/config/config.ts'
import type { Logger } from '../kernel/telemetry/logger.ts'
import { systemPorts, type Ports } from '../ports.ts'
import { FEE_SLOTS } from '../transactions/priority-fees.ts'
import { readTlsOptions } from './tls-files.ts'

/**
 * Connects to the other processes of the service, through Redis if one is configured. An unavailable Redis is retried
 * in the background; a refusal, as for a wrong password, rejects with STORAGE_UNAVAILABLE.
 */
export async function openCoordination(
  config: Config,
  logger: Pick<Logger, 'info' | 'warn'>,
  ports: Ports = systemPorts
): Promise<ClusterCoordination> {
  const { clock } = ports
  const { storage, redisUrl, redisSentinelPassword: sentinelPassword, scyllaKeyspace } = config
  if (storage === 'embedded') return soloCoordination()
  if (redisUrl === null) return dividedCoordination(ports)
  const [
    { RedisBlockDigests },
    { RedisConnection },
    { RedisHints },
    { RedisLeases },
    { RedisPresence },
    { RedisRateCounter },
    { RedisSharedReadings },
    { RedisSlotFloors },
    { RedisSocketCounts }
  ] = await Promise.all([
    import('../../storage/redis/block-digests.ts'),
    import('../../storage/redis/connection.ts'),
    import('../../storage/redis/hints.ts'),
    import('../../storage/redis/leases.ts'),
    import('../../storage/redis/presence.ts'),
    import('../../storage/redis/rate-counter.ts'),
    import('../../storage/redis/shared-readings.ts'),
    import('../../storage/redis/slot-floors.ts'),
    import('../../storage/redis/socket-counts.ts')
  ])
  // Several services may share one Redis; each has its own keyspace.
  const prefix = `millrace:${scyllaKeyspace}:`
  const tls = /^rediss/i.test(redisUrl) ? { tls: await readTlsOptions('redis', config) } : {}
  const connection = await RedisConnection.open({
    ...{ ...ports, ...tls, url: redisUrl, sentinelPassword, prefix, logger }
  })
  const hints = new RedisHints(connection, { clock })
  const counter = new RedisRateCounter(connection)
  let gateways: number | null = null
  const sockets = new SharedSockets({
    clock,
    counts: new RedisSocketCounts(connection),
    gateways: () => gateways ?? PROCESSES_ASSUMED
  })
  return {
    leases: new RedisLeases(connection, { clock }),
    commits: hints.commits,
    keys: hints.keys,
    webhooks: hints.webhooks,
    deliverers: hints.deliverers,
    submissions: hints.submissions,
    trackers: hints.trackers,
    tenantEvents: hints.tenantEvents,
    digests: new RedisBlockDigests(connection, FEE_SLOTS),
    presence: new RedisPresence(connection),
    // Only gateways are called by clients, so a quota is divided among them alone.
    limits: new SharedRate(
      counter.sharedBy(() => gateways),
      { clock, namesMax: KEYS_MAX }
    ),
    sockets,
    slotFloors: new RedisSlotFloors(connection),
    readings: new RedisSharedReadings(connection, hints.readings),
    questions: hints.questions,
    answers: hints.answers,
    shareAmong: (count) => void (gateways = count),
    get outage() {
      return connection.outage
    },
    async close() {
      sockets.close()
      await hints.close()
      await connection.close()
    }
  }
}

/**
 * Returns the coordination of processes that share a store and no Redis: each enforces its share of every quota. Before
 * it knows the others, a process counts itself alone: it has answered nothing yet.
 */
function dividedCoordination({ clock }: Ports): ClusterCoordination {
  let gateways = 1
  const unavailable = (): Promise<never> => Promise.reject(new Error('there is no shared counter'))
  const counts = {
    available: false,
    get processes() {
      return gateways
    },
    count: unavailable,
    charge: unavailable
  }
  const sockets = new SharedSockets({ clock, counts: null, gateways: () => gateways })
  return {
    ...soloCoordination(),
    limits: new SharedRate(counts, { clock, namesMax: KEYS_MAX }),
    sockets,
    shareAmong: (count) => void (gateways = count),
    close: async () => sockets.close()
  }
}

/** Returns the coordination of a single process, which counts calls locally. */
export function soloCoordination(): ClusterCoordination {
  const limits = new RateWindow(KEYS_MAX)
  return {
    leases: null,
    commits: null,
    keys: null,
    webhooks: null,
    deliverers: null,
    submissions: null,
    trackers: null,
    tenantEvents: null,
    digests: null,
    presence: null,
    limits,
    sockets: null,
    slotFloors: null,
    readings: null,
    questions: null,
    answers: null,
    shareAmong: () => undefined,
    outage: null,
    close: async () => undefined
  }
}
