/**
 * The least that a process of `followers.ts` can do: it hears of each block in Redis, and reads the newest slot from the store.
 * Nothing else runs in it, so its cost is that of Node and of the two drivers. Every message is answered with the number of reads
 * so far. Arguments: contact point, port, datacenter, keyspace, and the URL of Redis.
 */
import { Client, types } from 'cassandra-driver'
import { Redis } from 'ioredis'

const SELECT =
  'SELECT epoch, last_commit, flushed, current_epoch, head, flushed_head, amended FROM writers WHERE chain = ? AND epoch >= ?'
/** Interval of a sign of life, as each process of a service gives one. */
const ALIVE_MS = 1_000

const [contactPoint, port, datacenter, keyspace, redisUrl] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string
]
const driver = new Client({
  contactPoints: [contactPoint],
  protocolOptions: { port: Number(port) },
  localDataCenter: datacenter,
  keyspace
})
await driver.connect()
const redis = new Redis(redisUrl)
const subscriber = new Redis(redisUrl)
let reads = 0
subscriber.on('message', () => {
  const options = { prepare: true, consistency: types.consistencies.localQuorum }
  void driver.execute(SELECT, ['solana', 0], options).then(() => reads++)
})
await subscriber.subscribe(`millrace:${keyspace}:hint:commits`)
setInterval(() => void redis.set('millrace:floor', reads, 'EX', 5), ALIVE_MS)
process.on('message', () => process.send!(reads))
process.once('disconnect', () => process.exit())
process.once('SIGTERM', () => process.exit())
console.log('listening on http://floor')
