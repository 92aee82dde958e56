import { createRequire } from 'node:module'
import { errors } from 'cassandra-driver'
import t from 'tap'
import { isLoss, isOutage, refused } from '../../storage/scylla/errors.ts'

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

t.test('a keyspace that has vanished is named, and what to do about it', async (t) => {
  const INVALID = 0x2200
  for (const said of ["Keyspace 'shop' does not exist", 'unconfigured table trades_by_mint']) {
    const { detail } = refused(new errors.ResponseError(INVALID, said), 'shop')
    t.match(detail, /^the keyspace shop, or a table of it, is not there/)
    t.match(detail, said)
    t.match(detail, /restore it from a snapshot/)
  }
  // The answer to a statement that was prepared before the table was dropped.
  const dropped = new errors.ResponseError(0, 'java.lang.IllegalArgumentException: Unknown CF a7bfac30')
  t.equal(isOutage(dropped), false, 'a retry does not help')
  t.match(
    refused(dropped, 'shop').detail,
    /^the keyspace shop, or a table of it, is not there \(.*Unknown CF/
  )
  t.equal(isOutage(new errors.ResponseError(0, 'java.lang.NullPointerException')), true)
  const other = refused(new errors.ResponseError(INVALID, 'Invalid amount of bind variables'), 'shop')
  t.match(other.detail, /^the store refuses: /)
})
