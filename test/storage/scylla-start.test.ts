import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { ScyllaCrashPoint } from '../../storage/crash-points.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import type { ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import { CQL_SUPERUSER } from '../servers/cql-cluster.ts'
import { newKeyspaceName, testWithCql, testWithCqlCluster } from '../servers/cql.ts'
import type { CqlServer } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import { CqlProxy } from './cql-proxy.ts'
import { rawClient, scyllaOptions } from './scylla-keyspace.ts'
import { until } from '../until.ts'

/** Milliseconds, longer than the driver waits for the answer to a conditional write, and than it used to. */
const LOST_MS = 2_500

/** Opens a store that cannot be opened, and returns the one line with the reason. */
async function refusal(t: Test, { startWait, ...options }: ScyllaStorageOptions): Promise<string> {
  const outcome = await openScyllaStorage(options).then(
    (storage) => storage.close(),
    (error: unknown) => error
  )
  if (!(outcome instanceof ServiceError))
    throw new Error('it opened, or failed otherwise', { cause: outcome })
  t.equal(outcome.kind, ERRORS.STORAGE_UNAVAILABLE)
  t.notMatch(outcome.detail, /\n/, 'in one line')
  return outcome.detail
}

testWithCql(t, 'a start with a wrong way to the cluster', async (t, server) => {
  const options = scyllaOptions(server, newKeyspaceName())

  t.test('a port where nobody listens is named, with what to correct', async (t) => {
    const detail = await refusal(t, { ...options, contactPoints: ['127.0.0.1:1'] })
    t.match(detail, /no CQL server answers at 127\.0\.0\.1:1 .*ECONNREFUSED.*MILLRACE_SCYLLA_CONTACT_POINTS/)
  })

  t.test('a host that has no address is named', async (t) => {
    const detail = await refusal(t, { ...options, contactPoints: ['no-such-host.invalid'] })
    t.match(detail, /no CQL server answers at no-such-host\.invalid .*MILLRACE_SCYLLA_CONTACT_POINTS/)
  })

  t.test('a server that takes connections and never answers is given up', async (t) => {
    const proxy = await CqlProxy.start(server.contactPoints[0]!)
    t.teardown(() => proxy.end())
    proxy.mode = 'held'
    const { port } = proxy
    const detail = await refusal(t, { ...options, contactPoints: [`127.0.0.1:${port}`], port })
    t.match(detail, /no CQL server answers at 127\.0\.0\.1:\d+ .*MILLRACE_SCYLLA_CONTACT_POINTS/)
  })

  t.test('a wrong datacenter is named, with those that there are', async (t) => {
    const detail = await refusal(t, { ...options, datacenter: 'elsewhere' })
    t.equal(
      detail,
      `the cluster has no datacenter elsewhere: set MILLRACE_SCYLLA_DATACENTER to ${server.datacenter}`
    )
  })

  t.test('an older server is refused by its version', async (t) => {
    const raw = await rawClient(server)
    const { rows } = await raw.execute("SELECT release_version FROM system.local WHERE key = 'local'")
    await endClient(raw)
    const version = rows[0]!['release_version'] as string
    const older = `4${version.slice(1)}`
    let rewritten = 0
    const proxy = await CqlProxy.start(server.contactPoints[0]!, (answer) => {
      const text = answer.toString('latin1')
      if (!text.includes(version)) return answer
      rewritten++
      return Buffer.from(text.replaceAll(version, older), 'latin1')
    })
    t.teardown(() => proxy.end())
    const { port } = proxy
    const detail = await refusal(t, { ...options, contactPoints: [`127.0.0.1:${port}`], port })
    t.ok(rewritten > 0)
    t.equal(
      detail,
      `the cluster runs Apache Cassandra ${older}, which is too old: upgrade it to 5.0 or newer`
    )
  })
})

/** A wait that the test ends, and its messages; a test that waits this long has failed. */
function startWait() {
  const said: string[] = []
  const end = new AbortController()
  return {
    said,
    end,
    startWait: { ms: 100_000, waiting: (reason: string) => void said.push(reason), end: end.signal }
  }
}

testWithCql(t, 'a start that waits', async (t, server) => {
  const proxied = async (t: Test) => {
    const proxy = await CqlProxy.start(server.contactPoints[0]!)
    t.teardown(() => proxy.end())
    const { port } = proxy
    const keyspace = newKeyspaceName()
    t.teardown(async () => {
      const raw = await rawClient(server)
      await raw.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`)
      await endClient(raw)
    })
    const options = { ...scyllaOptions(server, keyspace), contactPoints: [`127.0.0.1:${port}`], port }
    return { proxy, options }
  }

  t.test('opens the store once a server answers, and says meanwhile what it waits for', async (t) => {
    const { proxy, options } = await proxied(t)
    proxy.mode = 'shut'
    const { said, startWait: wait } = startWait()
    const opening = openScyllaStorage({ ...options, startWait: wait })
    await until(() => said.length > 0)
    proxy.mode = 'open'
    const storage = await opening
    t.equal(await storage.blocks.head(), null)
    await storage.close()
    t.match(said[0], /^no CQL server answers at 127\.0\.0\.1:\d+ .*MILLRACE_SCYLLA_CONTACT_POINTS/)
  })

  t.test('ends when it is told to, and after its time', async (t) => {
    const { proxy, options } = await proxied(t)
    proxy.mode = 'shut'
    const { said, end, startWait: wait } = startWait()
    const opening = t.rejects(openScyllaStorage({ ...options, startWait: wait }), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE,
      detail: /^no CQL server answers/
    })
    await until(() => said.length > 0)
    end.abort()
    await opening
    const over = { ...wait, ms: 0, end: new AbortController().signal }
    await t.rejects(openScyllaStorage({ ...options, startWait: over }), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE,
      detail: /^no CQL server answers/
    })
  })

  t.test('does not wait where that is of no help', async (t) => {
    const { options } = await proxied(t)
    const { said, startWait: wait } = startWait()
    const refused = openScyllaStorage({ ...options, datacenter: 'elsewhere', startWait: wait })
    await t.rejects(refused, {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE,
      detail: /^the cluster has no datacenter elsewhere/
    })
    t.strictSame(said, [])
  })

  t.test(
    'two at once on an empty keyspace both open; one waits for the tables that the other makes',
    async (t) => {
      const { options } = await proxied(t)
      const waits = [startWait(), startWait()]
      const stores = await Promise.all(
        waits.map(({ startWait }) => openScyllaStorage({ ...options, startWait }))
      )
      for (const storage of stores) {
        t.equal(await storage.blocks.head(), null)
        await storage.close()
      }
      t.strictSame(
        waits.flatMap(({ said }) => said),
        ['another process is changing the schema of the keyspace']
      )
    }
  )

  t.test('goes on where the answer to a step of the schema is lost', async (t) => {
    const { proxy, options } = await proxied(t)
    let losses = 0
    const reached = (point: ScyllaCrashPoint): void => {
      if (point !== 'schema.applying' || losses++ > 0) return
      proxy.mode = 'deaf'
      void until(() => proxy.lost > 0)
        .then(() => delay(LOST_MS))
        .then(() => (proxy.mode = 'open'))
    }
    // A single attempt: only the step itself is repeated.
    const storage = await openScyllaStorage({ ...options, reached })
    t.ok(proxy.lost > 0, `${proxy.lost} answers were lost`)
    t.equal(await storage.blocks.head(), null)
    await storage.close()
  })
})

testWithCql(t, 'a start with a keyspace that is not as asked for', async (t, server) => {
  const options = scyllaOptions(server, newKeyspaceName())
  const { keyspace } = options
  await (await openScyllaStorage(options)).close()
  const raw = await rawClient(server)
  t.teardown(async () => {
    await raw.execute(`DROP KEYSPACE ${keyspace}`)
    await endClient(raw)
  })

  t.test('another number of replicas is refused', async (t) => {
    const detail = await refusal(t, { ...options, replication: 3 })
    t.match(detail, /has 1 replicas in \w+, not 3: set MILLRACE_SCYLLA_REPLICATION, or alter the keyspace/)
  })

  t.test('a retention that gives no 20 to 50 windows is refused', async (t) => {
    t.match(await refusal(t, { ...options, retentionSeconds: 600 }), /cannot be stored for 600 s/)
  })

  t.test('a newer schema than this version knows is refused, and left alone', async (t) => {
    await raw.execute(
      `INSERT INTO ${keyspace}.schema_versions (name, version, file) VALUES ('millrace', 900, '900-later.cql')`
    )
    const detail = await refusal(t, options)
    t.match(detail, /has schema 900, newer than \d+, the newest this version knows: start the version/)
    await raw.execute(`DELETE FROM ${keyspace}.schema_versions WHERE name = 'millrace' AND version = 900`)
    const storage = await openScyllaStorage(options)
    t.equal(await storage.blocks.head(), null)
    await storage.close()
  })
})

testWithCqlCluster(
  t,
  'a start at a cluster that requires a user name',
  { authentication: true },
  async (t, cluster) => {
    const { contactPoints, port, datacenter } = cluster
    const server: CqlServer = { contactPoints, port, datacenter, credentials: CQL_SUPERUSER }
    const options = scyllaOptions(server, newKeyspaceName())
    const raw = await rawClient(server)
    t.teardown(() => endClient(raw))

    t.test('a wrong password is refused, and not shown', async (t) => {
      const detail = await refusal(t, { ...options, password: 'wrong-secret' })
      t.match(
        detail,
        /does not accept the user cassandra with this password: correct MILLRACE_SCYLLA_USERNAME or/
      )
      t.notMatch(detail, /wrong-secret/)
    })

    t.test('no name at all is refused', async (t) => {
      const detail = await refusal(t, { ...options, username: null, password: null })
      t.match(detail, /requires a user name and a password: set MILLRACE_SCYLLA_USERNAME and/)
    })

    t.test('a user without the right to make the keyspace is told which rights it needs', async (t) => {
      await raw.execute("CREATE ROLE reader WITH PASSWORD = 'reader' AND LOGIN = true")
      const detail = await refusal(t, { ...options, username: 'reader', password: 'reader' })
      t.match(
        detail,
        /the user reader lacks a right: grant it CREATE, ALTER, SELECT and MODIFY on the keyspace test_/
      )
    })

    t.test('a user with rights on a keyspace that somebody else made opens the store', async (t) => {
      const { keyspace } = options
      await raw.execute(
        `CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', '${cluster.datacenter}': 1}`
      )
      await raw.execute("CREATE ROLE writer WITH PASSWORD = 'writer' AND LOGIN = true")
      for (const right of ['CREATE', 'ALTER', 'SELECT', 'MODIFY'])
        await raw.execute(`GRANT ${right} ON KEYSPACE ${keyspace} TO writer`)
      const storage = await openScyllaStorage({ ...options, username: 'writer', password: 'writer' })
      t.equal(await storage.blocks.claim(null), null)
      await storage.close()
    })
  }
)
