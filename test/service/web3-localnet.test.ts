import { join } from 'node:path'
import { Connection } from '@solana/web3.js'
import t from 'tap'
import { closeConnection, walkThrough } from '../node/web3-flows.ts'
import { kitSession, web3Session } from '../rpc/pubsub/wallet.ts'
import { ownDirectory } from '../own-directory.ts'
import { freePort } from '../servers/free-port.ts'
import { slotOf, until } from './asking.ts'
import { decodeFlows, findFlows, flowBlocks, flowsAreStored } from './found-flows.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import { ADMIN_KEY } from './service-process.ts'
import { storedSlots } from './stored-rows.ts'

/** Makes a tenant with a key of the default scopes. */
async function rpcKey(url: string): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, unknown>
  }
  await post('/v1/admin/tenants', { name: 'wallet' })
  const { key } = await post('/v1/admin/keys', { tenant: 'wallet', name: 'web3.js' })
  return String(key)
}

t.test('what a wallet does with web3.js on the localnet is found through the service', async (t) => {
  const dataDir = ownDirectory(t)
  const service = await startBusyLocalnetProcess(t, dataDir, [
    '--localnet-slot-ms',
    '100',
    '--rate-limit-per-minute',
    '100000',
    // Its socket for web3.js has the port after it.
    '--port',
    String(await freePort(['127.0.0.1'], 2))
  ])
  // A wallet has the RPC URL in place of the node's, and derives its socket: that of web3.js is on the next port.
  const url = `${service.url}/v1/rpc?api-key=${await rpcKey(service.url)}`
  const connection = new Connection(url, 'confirmed')
  t.teardown(() => closeConnection(connection))
  const { flows } = await walkThrough(connection)
  const last = Math.max(...flows.map(({ slot }) => slot))
  await until(async () => (await slotOf(service)) >= last, 'the last of it is indexed')
  await web3Session(t, url)
  const socketUrl = url.replace('http:', 'ws:')
  await kitSession(t, url, socketUrl)
  await kitSession(t, url, socketUrl.replace('/rpc?api-key=', '/rpc/?key='))

  await findFlows(t, flows, [service])
  const found = await decodeFlows(t, flows, await flowBlocks(flows, service.rpcUrl))
  const counted = found.reduce((sum, { transactions }) => sum + transactions, 0)
  closeConnection(connection)
  t.match(await service.end('SIGTERM'), { code: 0 })
  const rows = await storedSlots(join(dataDir, 'store'))
  flowsAreStored(t, found, rows)
  t.ok(
    counted > flows.length,
    `${counted} transactions in ${found.length} blocks, those of the market among them`
  )
})
