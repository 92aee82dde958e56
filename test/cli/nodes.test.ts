import t, { type Test } from 'tap'
import { nodesApp } from '../rpc/nodes-app.ts'
import { callOf, isFirst } from '../rpc/opened-nodes.ts'
import { until } from '../until.ts'
import { runCommand } from './run-command.ts'

/** A service over two nodes, the first of which has answered a request, and its command line. */
async function world(t: Test) {
  const { app, key, nodes, a, b, hostOf } = await nodesApp(t)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  await until(() => isFirst(nodes, 0))
  await nodes.request(callOf('getBalance', '["x"]'), new AbortController().signal)
  const millrace = (...args: string[]) => runCommand(['nodes', ...args, '--url', url, '--key', key])
  return { millrace, first: hostOf(a), second: hostOf(b) }
}

t.test('the nodes behind the RPC URL are listed as a table, and as JSON', async (t) => {
  const { millrace, first, second } = await world(t)
  const { code, lines, stderr } = await millrace('list')
  t.equal(code, 0, stderr)
  t.match(
    lines[0],
    /^id +state +cordoned +behind +requests +errors +latency_ms +limit +learned +left +reason$/
  )
  t.match(lines[1], new RegExp(`^${first} +healthy +– +0 +1 +0 +\\d`))
  t.ok(lines[2]!.startsWith(second))
  t.match((await millrace('list', '--json')).rows(), [
    { id: first, requests: 1, methods: [{ method: 'getBalance' }] },
    { id: second, requests: 0 }
  ])
})

t.test('a node is cordoned and freed by its id; of the last one the command warns', async (t) => {
  const { millrace, first, second } = await world(t)
  const cordoned = await millrace('cordon', first, '--json')
  t.equal(cordoned.code, 0, cordoned.stderr)
  t.match(cordoned.rows(), [{ id: first, is_usable: false, cordoned_at: String, warnings: [] }])
  t.match((await millrace('cordon', second, '--json')).rows(), [{ warnings: [{ code: 'no_node_left' }] }])
  t.match((await millrace('free', first, '--json')).rows(), [{ id: first, cordoned_at: null }])
  t.match(await millrace('cordon', 'gone.example:1'), { code: 1, stderr: /gone\.example:1/ })
  t.match(await millrace('cordon'), { code: 2 })
})
