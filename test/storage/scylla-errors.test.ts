import { createRequire } from 'node:module'
import { errors } from 'cassandra-driver'
import t from 'tap'
import { isLoss, isOutage } from '../../storage/scylla/errors.ts'

/** The driver's pool of connections to a node, which its types leave out. */
const HostConnectionPool = createRequire(import.meta.url)('cassandra-driver/lib/host-connection-pool.js') as {
  readonly prototype: { borrowConnection(): unknown }
}

t.test(
  'a node whose last connection broke is a lost node: a commit waits for it and is not refused',
  async (t) => {
    const borrow = (): unknown => HostConnectionPool.prototype.borrowConnection.call({ connections: [] })
    const thrown = t.throws(borrow, Error) as unknown as Error
    t.notOk(thrown instanceof errors.DriverError, 'it has no type of its own')
    t.ok(isOutage(thrown), thrown.message)
    t.ok(isLoss(thrown))
    for (const other of [new Error('another'), new TypeError('No connection'), 'No connection available'])
      t.notOk(isOutage(other) || isLoss(other))
  }
)
