import { join } from 'node:path'
import { Connection } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { TOKEN_PROGRAM } from '../../src/chain/token-movement.ts'
import { closeConnection, walkThrough } from '../node/web3-flows.ts'
import { kitSession, web3Session } from '../rpc/pubsub/wallet.ts'
import { ownDirectory } from '../own-directory.ts'
import { slotOf, until } from './asking.ts'
import { decodeFlows, findFlows, flowBlocks, flowsAreStored } from './found-flows.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import { ADMIN_KEY } from './service-process.ts'
import { storedSlots } from './stored-rows.ts'

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as Record<string, unknown>
}

/** Makes a tenant with a key of the default scopes. */
async function rpcKey(url: string): Promise<string> {
  await post(`${url}/v1/admin/tenants`, { name: 'wallet' })
  const { key } = await post(`${url}/v1/admin/keys`, { tenant: 'wallet', name: 'web3.js' })
  return String(key)
}

/** Compares the token accounts at finalized with those of the node at one slot, while the market trades. */
async function compareTokenAccounts(t: Test, url: string, nodeUrl: string): Promise<void> {
  const config = { encoding: 'jsonParsed', withContext: true }
  const request = { jsonrpc: '2.0', id: 1, method: 'getProgramAccounts', params: [TOKEN_PROGRAM, config] }
  const read = async (at: string) => (await post(at, request))['result'] as ProgramAccounts | undefined
  let looks = 0
  await until(async () => {
    const [ours, theirs] = await Promise.all([read(url), read(nodeUrl)])
    if (ours?.context.slot !== theirs!.context.slot) return false
    const parsed = theirs!.value.filter(({ account: { data } }) => !Array.isArray(data))
    t.strictSame(sorted(ours.value), sorted(parsed), `${parsed.length} accounts at slot ${ours.context.slot}`)
    t.same(ours.context, theirs!.context)
    return ++looks === 3
  }, 'both answer at one slot')
}

interface ProgramAccounts {
  readonly context: { readonly slot: number }
  readonly value: readonly { readonly pubkey: string; readonly account: { readonly data: unknown } }[]
}

const sorted = (rows: ProgramAccounts['value']): ProgramAccounts['value'] =>
  rows.toSorted((a, b) => (a.pubkey < b.pubkey ? -1 : 1))

t.test('what a wallet does with web3.js on the localnet is found through the service', async (t) => {
  const dataDir = ownDirectory(t)
  const service = await startBusyLocalnetProcess(t, dataDir, [
    '--localnet-slot-ms',
    '100',
    '--rate-limit-per-minute',
    '100000'
  ])
  // A wallet has the RPC URL in place of the node's, and derives its socket: that of web3.js is on the next port.
  const url = `${service.url}/v1/rpc?api-key=${await rpcKey(service.url)}`
  await post(`${service.url}/v1/admin/programs`, { program: TOKEN_PROGRAM })
  const connection = new Connection(url, 'confirmed')
  t.teardown(() => closeConnection(connection))
  const { flows } = await walkThrough(connection)
  const last = Math.max(...flows.map(({ slot }) => slot))
  await until(async () => (await slotOf(service)) >= last, 'the last of it is indexed')
  await compareTokenAccounts(t, url, service.rpcUrl)
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
