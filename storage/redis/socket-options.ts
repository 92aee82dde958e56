import type { RedisOptions } from 'ioredis'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { readRedisUrl, type HostPort, type RedisPlace } from '../../src/kernel/config/redis-url.ts'
import type { Ports } from '../../src/ports.ts'
import type { TlsOptions } from '../tls-options.ts'
import { inCluster, ofSentinels } from './locate-primary.ts'
import { primaryConnector } from './primary-connector.ts'
import { FAREWELL_MS } from './times.ts'

/**
 * Milliseconds without an answer after which the server counts as unavailable and the socket is closed. A much shorter time
 * would make a slow server count as unavailable. With a much longer one, callers would wait on a dead socket for most of a
 * lease.
 */
const ANSWER_MS = 1_500
/**
 * Pause between attempts to reach the server, in milliseconds, doubled from floor to ceiling; half of it is jitter. A server
 * that is back is found within a second, without a storm of attempts.
 */
const RETRY_MS = { floor: 50, ceiling: 1_000 }
export interface RedisSocketOptions {
  /** `MILLRACE_REDIS_URL`. */
  readonly url: string
  /** For a URL with `rediss`. */
  readonly tls?: TlsOptions | undefined
  readonly sentinelPassword?: string | null | undefined
  /** A key that stands for all keys of this service: in a cluster, they are all where this one is. */
  readonly key: string
  readonly random: Ports['random']
}

/** Reads a URL of Redis. Throws STORAGE_UNAVAILABLE if it cannot be used. */
export function redisPlaceOf(url: string): RedisPlace {
  const place = readRedisUrl(url)
  const problem = typeof place === 'string' ? place : databaseProblem(place)
  if (problem !== null) throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `MILLRACE_REDIS_URL ${problem}`)
  return place as RedisPlace
}

const databaseProblem = ({ database }: RedisPlace): string | null =>
  database === null ? 'has a path that is not the number of a database' : null

/** Takes only the known parts of a URL: the driver would read any of its settings from the query. */
export function socketOptions({ url, tls = {}, sentinelPassword = null, key, random }: RedisSocketOptions) {
  const place = redisPlaceOf(url)
  const { kind, hosts, isTls, username, password, name, database } = place
  const credentials = { ...(username !== '' && { username }), ...(password !== '' && { password }) }
  /** Options of the connections to any server or Sentinel. */
  const connection = {
    ...(isTls && { tls }),
    connectionName: 'millrace',
    lazyConnect: true,
    connectTimeout: ANSWER_MS,
    socketTimeout: ANSWER_MS,
    disconnectTimeout: FAREWELL_MS,
    // Calls to an unreachable server fail at once, and no call is sent twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Subscriptions are renewed by their owner: the driver would swallow a failed resubscription.
    autoResubscribe: false
  } satisfies RedisOptions
  const sentinelCredentials = sentinelPassword === null ? {} : { password: sentinelPassword }
  const locate =
    kind === 'sentinel'
      ? ofSentinels(hosts, name, { ...connection, ...sentinelCredentials })
      : inCluster(hosts, key, { ...connection, ...credentials })
  return {
    ...connection,
    ...credentials,
    ...(kind === 'server' ? hosts[0]! : { Connector: primaryConnector(locate, isTls ? tls : null) }),
    db: database ?? 0,
    retryStrategy: (attempt: number) => {
      const pause = Math.min(RETRY_MS.ceiling, RETRY_MS.floor * 2 ** Math.min(attempt - 1, 10))
      return pause * (0.5 + random() / 2)
    },
    // A server that became a replica is left, or one of a cluster that has given the keys to another: a new connection finds
    // the current primary.
    reconnectOnError: ({ message }: Error) =>
      message.startsWith('READONLY') || (kind === 'cluster' && message.startsWith('MOVED'))
  } satisfies RedisOptions
}

/** Returns the place of a Redis for a line of the log, without its user. */
export function placeText({ kind, hosts, name }: RedisPlace): string {
  const all = hosts.map(hostPortText).join(',')
  if (kind === 'sentinel') return `${name} of the Sentinels ${all}`
  return kind === 'cluster' ? `the cluster of ${all}` : all
}

const hostPortText = ({ host, port }: HostPort): string => `${host}:${port}`
