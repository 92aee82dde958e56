import type { RedisOptions } from 'ioredis'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { Ports } from '../../src/ports.ts'

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
/**
 * Milliseconds that a closing process waits until the server has removed it. Short, because a shutdown must not hang on a
 * slow server. PRESENCE_MS makes up for a lost removal.
 */
export const FAREWELL_MS = 200

/** Takes only the known parts of a URL: the driver would read any of its settings from the query. */
export function socketOptions(url: string, random: Ports['random']) {
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const database = pathname.slice(1)
  if (!/^\d{0,4}$/.test(database)) {
    throw new ServiceError(
      'STORAGE_UNAVAILABLE',
      'the path of MILLRACE_REDIS_URL is not the number of a database'
    )
  }
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 6379 : Number(port),
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
    db: Number(database),
    connectionName: 'millrace',
    lazyConnect: true,
    connectTimeout: ANSWER_MS,
    socketTimeout: ANSWER_MS,
    disconnectTimeout: FAREWELL_MS,
    retryStrategy: (attempt: number) => {
      const pause = Math.min(RETRY_MS.ceiling, RETRY_MS.floor * 2 ** Math.min(attempt - 1, 10))
      return pause * (0.5 + random() / 2)
    },
    // Calls to an unreachable server fail at once, and no call is sent twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Subscriptions are renewed by their owner: the driver would swallow a failed resubscription.
    autoResubscribe: false,
    // A server that became a replica is left: a new connection finds the current primary.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY')
  } satisfies RedisOptions
}

export function addressOf({ host, port }: RedisOptions): string {
  return `${host}:${port}`
}
