import t from 'tap'
import { callOf, isFirst, textOf } from './opened-nodes.ts'
import { until } from '../until.ts'
import { nodesApp } from './nodes-app.ts'

const PATH = '/v1/admin/nodes'
const { signal } = new AbortController()

t.test('an operator lists, cordons and frees the nodes behind the RPC URL', async (t) => {
  const { a, b, nodes, cordons, ask, hostOf } = await nodesApp(t)
  await until(() => isFirst(nodes, 0))
  await nodes.request(callOf('getBalance', '["x"]'), signal)
  const { body } = await ask('GET', PATH)
  t.match(body, {
    data: [
      {
        id: hostOf(a),
        is_archive: false,
        state: 'healthy',
        is_usable: true,
        cordoned_at: null,
        slots_behind: 0,
        budget: { limit: null, learned: null, left: null },
        errors: 0,
        error_share: 0,
        methods: [{ method: 'getBalance', errors: 0, p50_ms: Number, p99_ms: Number }]
      },
      { id: hostOf(b) }
    ]
  })

  const cordoned = await ask('POST', `${PATH}/${hostOf(a)}/cordon`, { 'idempotency-key': 'one' })
  t.match(cordoned, { status: 200, body: { id: hostOf(a), is_usable: false, warnings: [] } })
  t.type(cordoned.body.cordoned_at, 'string')
  t.match(await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal)), b.url)
  const again = await ask('POST', `${PATH}/${hostOf(a)}/cordon`, { 'idempotency-key': 'one' })
  t.equal(again.body.cordoned_at, cordoned.body.cordoned_at)
  t.equal((await cordons.list()).length, 1)

  const last = await ask('POST', `${PATH}/${hostOf(b)}/cordon`)
  t.match(last, { status: 200, body: { warnings: [{ code: 'no_node_left', message: /-32603/ }] } })
  await t.rejects(nodes.request(callOf('getBalance', '["x"]'), signal), /cordoned 2 nodes/)

  t.match(await ask('POST', `${PATH}/${hostOf(a)}/free`), {
    status: 200,
    body: { cordoned_at: null, is_usable: true, warnings: [] }
  })
  t.match(await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal)), a.url)
  t.match(await ask('POST', `${PATH}/${hostOf(a)}/free`), { status: 200 }, 'a free node stays as it is')
})

t.test(
  'a node that the process does not have is listed while it is cordoned, and can be freed',
  async (t) => {
    const { cordons, ask } = await nodesApp(t)
    t.match(await ask('POST', `${PATH}/gone.example:1/cordon`), {
      status: 404,
      body: { code: 'node_not_found' }
    })
    t.match(await ask('POST', `${PATH}/gone.example:1/free`), { status: 404 })
    await cordons.add({ id: 'gone.example:1', digest: 'd' }, 1_000)
    const { body } = await ask('GET', PATH)
    t.equal(body.data.length, 3)
    t.match(body.data[2], { id: 'gone.example:1', state: 'absent', cordoned_at: '1970-01-01T00:00:01.000Z' })
    t.match(await ask('POST', `${PATH}/gone.example:1/free`), { status: 200, body: { cordoned_at: null } })
    t.equal((await cordons.list()).length, 0)
  }
)

t.test('a cordon outlives a new key in the URL, and a second node on its host', async (t) => {
  const { cordons } = await nodesApp(t)
  const { nodeIds } = await import('../../src/rpc/node-ids.ts')
  const { cordonOf } = await import('../../src/rpc/cordons.ts')
  const [before] = nodeIds(['https://a.example/key-1'])
  await cordons.add(before!, 5)
  const list = await cordons.list()
  t.ok(cordonOf(list, nodeIds(['https://a.example/key-2'])[0]!))
  const [first, second] = nodeIds(['https://a.example/key-1', 'https://a.example/key-2'])
  t.ok(cordonOf(list, first!))
  t.notOk(cordonOf(list, second!))
  await cordons.remove(first!)
  t.equal((await cordons.list()).length, 0)
})

t.test('only administrators see and change nodes', async (t) => {
  const { market } = await nodesApp(t)
  t.equal((await market.get(PATH, { 'x-api-key': market.key })).status, 403)
  t.equal((await market.get(PATH, {})).status, 401)
})
