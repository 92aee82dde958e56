import { join } from 'node:path'
import t from 'tap'
import { FaultyNode } from '../node/faulty-node.ts'
import { freePort } from '../servers/free-port.ts'
import { StreamServer } from '../yellowstone/stream-server.ts'
import { until } from './asking.ts'
import { startProcess } from './service-process.ts'
import { shownBy, sourceOf } from './shown-source.ts'

const SECRET = 't0p-s3cr3t'

t.test('a service whose node is away, or refuses it, says so in one line and shows it', async (t) => {
  t.testdir()
  const nowhere = `http://127.0.0.1:${await freePort(['127.0.0.1'])}`
  const node = await FaultyNode.start(t)
  node.inject('refusal', { kind: 'status', status: 401 }, undefined, Infinity)
  const server = await StreamServer.start((subscription) =>
    subscription.fail('UNAUTHENTICATED', `${SECRET} is no token`)
  )
  t.teardown(() => server.close())
  const stream = ['--source', 'yellowstone', '--yellowstone-token', SECRET, '--yellowstone-url']
  const cases: [name: string, flags: string[], state: string, says: RegExp][] = [
    [
      'a node that is away',
      ['--source', 'rpc', '--rpc-url', nowhere],
      'waiting',
      /has no node: .*ECONNREFUSED/
    ],
    [
      'a node that refuses the token',
      ['--source', 'rpc', '--rpc-url', `${node.url}/?api-key=${SECRET}`],
      'refused',
      /the source is refused: .*HTTP 401: check the token in its URL/
    ],
    ['a stream that is away', [...stream, nowhere], 'waiting', /cannot be reached: Connection refused/],
    [
      'a stream that refuses the token',
      [...stream, server.url],
      'refused',
      /refuses the token: \*{8} is no token/
    ]
  ]
  await Promise.all(
    cases.map(async ([name, flags, state, says], at) => {
      const dataDir = join(t.testdirName, String(at))
      const service = await startProcess({ dataDir, recordedDir: null, more: flags })
      t.teardown(() => void service.child.kill('SIGKILL'))
      // A waiting source retries occasionally, so each endpoint is polled until it shows the state.
      await until(async () => (await sourceOf(service)) === state, `${name} is ${state}`)
      t.match(await service.get('/v1/health', null), {
        status: 503,
        body: { status: 'degraded', slot: null }
      })
      const shown = await until(async () => {
        const source = await shownBy(service)
        return source?.state === state && source
      }, `the tree shows ${name} as ${state}`)
      t.match(shown, { reason: String, nodes: [{ reason: String }] }, name)
      await until(async () => {
        const { body } = await service.get('/metrics', null)
        return String(body['text']).includes(`millrace_source_state{state="${state}"} 1`)
      }, `metrics show ${name} as ${state}`)
      await service.end('SIGTERM')
      const lines = service.stderr.map((line) => JSON.parse(line) as { level: number; msg: string })
      const told = lines.filter(({ level, msg }) => level >= 40 && says.test(msg))
      t.equal(told.length, 1, `${name} is one line`)
      t.notMatch(service.stderr.join(), SECRET)
    })
  )
  // Blocks and RPC request the genesis, leaders the nodes; on a starved machine an answer comes after its deadline,
  // once.
  const asked = Object.groupBy(node.requests, ({ method }) => method)
  t.strictSame(Object.keys(asked).sort(), ['getClusterNodes', 'getGenesisHash'])
  t.ok(
    asked['getGenesisHash']!.length <= 4 && asked['getClusterNodes']!.length <= 2,
    'who refuses is not asked again'
  )
  t.equal(server.subscriptions.length, 1)
})
