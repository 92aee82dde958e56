import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import t, { type Test } from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { makeCertificates, type Certificates } from '../servers/certificates.ts'
import { testWithCql, type CqlServer } from '../servers/cql.ts'
import { testWithRedisGroup } from '../servers/redis-group.ts'
import { until } from './asking.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { runMillrace, startProcess } from './service-process.ts'

const PASSWORD = 'a-password-of-the-test'

/** Starts a server that ends TLS in front of a CQL server, and refuses clients without a certificate. */
async function tlsBefore(t: Test, server: CqlServer, { ca, server: own }: Certificates): Promise<number> {
  const [host, port] = server.contactPoints[0]!.split(':')
  const options = { ca: readFileSync(ca), cert: readFileSync(own.cert), key: readFileSync(own.key) }
  const proxy = createServer({ ...options, requestCert: true, rejectUnauthorized: true }, (client) => {
    const behind = connect({ host: host!, port: Number(port) })
    for (const [from, to] of [
      [client, behind],
      [behind, client]
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
  })
  proxy.on('tlsClientError', () => undefined)
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  return (proxy.address() as AddressInfo).port
}

testWithFixtures(t, 'a service with TLS', (t) =>
  testWithCql(t, 'to a CQL server', (t, server) => {
    testWithRedisGroup(
      t,
      'and to Redis, with certificates of clients: it runs, says no secret, and names what is wrong',
      async (t, group) => {
        const folder = join(group.folder, 'certificates')
        mkdirSync(folder)
        const certificates = makeCertificates(folder, ['DNS:millrace.example', 'IP:127.0.0.1'])
        const redis = await group.tlsServer(certificates, '--requirepass', PASSWORD)
        const port = await tlsBefore(t, server, certificates)
        const files = (name: string) => ({
          [`MILLRACE_${name}_TLS_CA`]: certificates.ca,
          [`MILLRACE_${name}_TLS_CERTIFICATE`]: certificates.client.cert,
          [`MILLRACE_${name}_TLS_KEY`]: certificates.client.key
        })
        const environment = {
          ...clusterEnvironment(
            server,
            ownKeyspace(t, server),
            `rediss://:${PASSWORD}@127.0.0.1:${redis.port}`
          ),
          MILLRACE_SCYLLA_CONTACT_POINTS: '127.0.0.1',
          MILLRACE_SCYLLA_PORT: String(port),
          MILLRACE_SCYLLA_TLS: 'true',
          MILLRACE_SCYLLA_TLS_SERVER_NAME: 'millrace.example',
          ...files('SCYLLA'),
          ...files('REDIS')
        }
        const directory = t.testdir({ blocks: {} })
        const recordedDir = join(directory, 'blocks')
        writeLines(recordedDir, 'all.ndjson', recordedBlocks(5))
        const service = await startProcess({ dataDir: join(directory, 'data'), recordedDir, environment })
        t.teardown(async () => {
          if (service.child.exitCode === null) await service.end('SIGKILL')
          if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
        })
        await until(async () => (await service.get('/ready', null)).status === 200, 'it is ready')
        const fleet = await service.get('/v1/admin/fleet')
        t.match(fleet.body, { source: 'redis' })
        t.equal((await service.get('/v1/launches')).status, 200)
        const shown = await runMillrace(['config'], environment)
        t.match(shown.stdout, certificates.ca)
        const said = [...service.stdout, ...service.stderr, shown.stdout].join('\n')
        t.notMatch(said, PASSWORD)
        t.notMatch(said, readFileSync(certificates.client.key, 'utf8').split('\n')[1])
        t.match(await service.end('SIGTERM'), { code: 0 })

        const other = join(folder, 'other.pem')
        writeFileSync(other, 'no certificate')
        const strange = join(group.folder, 'strange')
        mkdirSync(strange)
        const refused: readonly (readonly [Record<string, string>, RegExp])[] = [
          [
            { MILLRACE_SCYLLA_TLS_CA: '/nowhere.pem' },
            /cannot read MILLRACE_SCYLLA_TLS_CA=\/nowhere\.pem \(ENOENT\)/
          ],
          [{ MILLRACE_REDIS_TLS_KEY: other }, /the files of MILLRACE_REDIS_TLS_CA, .+ cannot be used/],
          [
            { MILLRACE_SCYLLA_TLS_CA: makeCertificates(strange, ['DNS:x']).ca },
            /TLS to the cluster at 127\.0\.0\.1 fails .*certificate.*MILLRACE_SCYLLA_TLS_CA/
          ],
          [{ MILLRACE_SCYLLA_TLS_SERVER_NAME: 'another.example' }, /TLS to the cluster .* does not match/],
          [
            { MILLRACE_SCYLLA_TLS: 'false' },
            /MILLRACE_SCYLLA_TLS_CA is set, but these connections have no TLS/
          ],
          [
            { MILLRACE_REDIS_TLS_KEY: '' },
            /MILLRACE_REDIS_TLS_CERTIFICATE and MILLRACE_REDIS_TLS_KEY belong together/
          ]
        ]
        for (const [settings, line] of refused) {
          const args = ['serve', '--source', 'recorded', '--recorded-dir', recordedDir, '--port', '0']
          const { stderr, code } = await runMillrace(args, {
            ...environment,
            ...{ MILLRACE_DATA_DIR: join(directory, 'data'), ...settings }
          })
          t.not(code, 0)
          t.match(stderr, line)
          t.notMatch(stderr, PASSWORD)
        }
      }
    )
  })
)
