import { Redis, type RedisOptions } from 'ioredis'
import { z } from 'zod'
import type { HostPort } from '../../src/kernel/config/redis-url.ts'

/** Options of a short-lived connection; the driver's type of this one does not fit its own constructor. */
type ClientOptions = Omit<RedisOptions, 'replyMapping'>

/** Finds the server that has the keys of this service now. Rejects with the reason if no host can say so. */
export type LocatePrimary = () => Promise<HostPort>

const port = z.coerce.number().int().min(1).max(65_535)
const sentinelReply = z.tuple([z.string().min(1), port]).nullable()
/** First slot, last slot, and the primary of a range: its host, its port, and more. */
const slotsReply = z.array(
  z.tuple([z.int(), z.int(), z.tuple([z.string().nullable(), port]).rest(z.unknown())]).rest(z.unknown())
)

/** Asks Sentinels for the primary of a name. */
export const ofSentinels = (
  hosts: readonly HostPort[],
  name: string,
  options: ClientOptions
): LocatePrimary =>
  firstAnswer(hosts, options, async (client, { host, port }) => {
    const reply = sentinelReply.parse(await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name))
    if (reply === null) throw new Error(`the Sentinel ${host}:${port} does not know the primary ${name}`)
    return { host: reply[0], port: reply[1] }
  })

/** Asks nodes of a cluster for the primary of a key. */
export const inCluster = (hosts: readonly HostPort[], key: string, options: ClientOptions): LocatePrimary =>
  firstAnswer(hosts, options, async (client, asked) => {
    const slot = z.int().parse(await client.call('CLUSTER', 'KEYSLOT', key))
    const ranges = slotsReply.parse(await client.call('CLUSTER', 'SLOTS'))
    const range = ranges.find(([first, last]) => first <= slot && slot <= last)
    if (range === undefined)
      throw new Error(`the cluster of ${asked.host}:${asked.port} has no node for the hash slot ${slot}`)
    const [host, port] = range[2]
    // A node without a host is reached as the one that was asked.
    return { host: host === null || host === '' ? asked.host : host, port }
  })

/** Resolves with the primary that a host names. */
type PrimaryQuery = (client: Redis, host: HostPort) => Promise<HostPort>

/**
 * Asks all hosts at once, and returns the first answer: a dead host delays nothing. A host that was cut off may name an
 * earlier primary. That one refuses writes or does not answer, and the next attempt asks again.
 */
const firstAnswer = (
  hosts: readonly HostPort[],
  options: ClientOptions,
  query: PrimaryQuery
): LocatePrimary => {
  const answerOf = async (host: HostPort): Promise<HostPort> => {
    const own = { ...host, retryStrategy: () => null, enableReadyCheck: false }
    // A command that is sent while the handshake runs waits for it.
    const client = new Redis({ ...options, ...own, enableOfflineQueue: true })
    let fault: Error | null = null
    client.on('error', (error: Error) => void (fault ??= error))
    try {
      await client.connect()
      return await query(client, host)
    } catch (error) {
      // The driver's own rejection says only that the connection was closed.
      throw fault ?? error
    } finally {
      client.disconnect()
    }
  }
  return async () => {
    try {
      return await Promise.any(hosts.map(answerOf))
    } catch (error) {
      throw error instanceof AggregateError ? (error.errors[0] as Error) : error
    }
  }
}
