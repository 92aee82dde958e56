/**
 * A process that acquires a lease and prints, as fast as it can, whether it holds it: `held <token> <milliseconds>` or `not
 * <token> <milliseconds>`. It ends once the lease is lost. Arguments: URL, prefix, length of the lease.
 */
import type { Lease } from '../../storage/cluster/coordination.ts'
import { systemPorts } from '../../src/ports.ts'
import { RedisConnection } from '../../storage/redis/connection.ts'
import { RedisLeases } from '../../storage/redis/leases.ts'

const [url, prefix, lengthMs] = process.argv.slice(2)
const logger = { info: () => undefined, warn: () => undefined } as unknown as never
const connection = await RedisConnection.open({ url: url!, prefix: prefix!, logger, ...systemPorts })
const leases = new RedisLeases(connection, { ...systemPorts, lengthMs: Number(lengthMs) })

let lease: Lease | null = null
while (lease === null) {
  lease = await leases.acquire('work')
  await new Promise((resolve) => setTimeout(resolve, 20))
}
const { lost, token } = lease
const say = (): void => {
  process.stdout.write(`${lease.held ? 'held' : 'not'} ${token} ${Date.now()}\n`)
  if (lost.aborted) return process.exit(0)
  setTimeout(say, 5)
}
say()
