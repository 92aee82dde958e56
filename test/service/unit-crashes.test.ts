import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Connection, Keypair, SystemProgram, Transaction } from '@solana/web3.js'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import type { TreeNode } from '../../actors/supervision/live-tree.ts'
import { readConfig } from '../../src/configuration.ts'
import { PRODUCTS } from '../products/loaded-products.ts'
import { startService } from '../../src/service.ts'
import { ownDirectory } from '../own-directory.ts'
import { until } from './asking.ts'
import { makeBusyLocalnet } from './localnet-process.ts'

const ADMIN_KEY = 'an-admin-key-of-the-tests'
const SOL = 1_000_000_000
const CHANNELS = ['launches', 'curves', 'venue:pumpfun', 'venue:pumpswap', 'venue:raydium-cpmm']
/** The spine, whose crash restarts the units inside; and the owners of the resources that the test watches. */
const NOT_OPTIONAL = ['storage', 'edge', 'channels/hub', 'stream/tenants', 'deliveries/webhooks']
/** The processes that restart with a given one, because they use its resource. */
const USERS: Readonly<Record<string, readonly string[]>> = {
  'accounts/node': ['accounts/mints', 'accounts/pools'],
  'accounts/readings': ['accounts/mints', 'accounts/pools'],
  'receivers/outgoing': ['deliveries/webhooks'],
  'submissions/nodes': ['transactions/tracking'],
  'submissions/engine': ['transactions/tracking'],
  'rpc/nodes': ['rpc/calls', 'rpc-sockets/pubsub'],
  'rpc/calls': ['rpc-sockets/pubsub']
}

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Starts a localnet's service in this process. */
async function start(t: Test) {
  const dataDir = ownDirectory(t)
  await makeBusyLocalnet(dataDir)
  const flags = ['--data-dir', dataDir, '--port', '0', '--localnet-slot-ms', '100', '--token-images', 'true']
  const reading = readConfig([...flags, '--rate-limit-per-minute', '100000'], {
    MILLRACE_ADMIN_KEY: ADMIN_KEY,
    MILLRACE_ALLOW_PRIVATE_WEBHOOKS: 'true'
  })
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  let [port, rpcUrl] = [0, '']
  const supervision = startService({
    products: PRODUCTS,
    config: reading.config,
    logger: pino({ level: 'silent' }),
    version: 'test',
    onFirstKeys: () => undefined,
    onListening: (bound) => (port = bound),
    onLocalnet: (url) => (rpcUrl = url)
  })
  t.teardown(() => supervision.drain())
  t.equal(await supervision.ready, true)
  const ask = async (path: string, key: string, body?: object): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) })
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  return { supervision, port, rpcUrl, ask }
}

/** Returns the number of starts of each process, by path. */
function starts(node: TreeNode, path = ''): Map<string, number> {
  const found = new Map<string, number>()
  for (const child of node.children) {
    const at = path === '' ? child.name : `${path}/${child.name}`
    if (child.kind === 'process') found.set(at, child.instance)
    for (const [inner, count] of starts(child, at)) found.set(inner, count)
  }
  return found
}

/** A receiver that leaves a POST unanswered while it holds. */
async function startReceiver(t: Test) {
  const held: ServerResponse[] = []
  let batches = 0
  let holds = false
  const server = createServer((request, response) => {
    request.resume()
    batches++
    if (holds) held.push(response)
    else response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    batches: () => batches,
    held,
    hold: () => void (holds = true),
    release: () => {
      holds = false
      for (const response of held.splice(0)) response.end()
    }
  }
}

t.test(
  'each optional process crashes: a WebSocket, a webhook in flight and a tracked transaction live on',
  async (t) => {
    const { supervision, port, rpcUrl, ask } = await start(t)
    const made = await until(async () => {
      const scopes = ['data:read', 'stream', 'webhooks', 'tx:send']
      const answer = await ask('/v1/admin/keys', ADMIN_KEY, { tenant: 'operator', scopes })
      if (answer.status >= 400 && answer.status < 500) throw new Error(JSON.stringify(answer.body))
      return answer.status < 300 ? answer.body : null
    }, 'a key')
    const key = String(made['key'])
    await until(async () => (await ask('/v1/health', key)).body['status'] === 'ok', 'it is live')

    const cursors: number[] = []
    let isClosed = false
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream?key=${key}`)
    socket.on('close', () => (isClosed = true))
    socket.on('message', (data: Buffer) => {
      const { type, cursor } = JSON.parse(data.toString()) as { type: string; cursor: number }
      if (type === 'event') cursors.push(cursor)
    })
    t.teardown(() => socket.terminate())
    await once(socket, 'open')
    socket.send(JSON.stringify({ subscribe: CHANNELS }))
    const receiver = await startReceiver(t)
    t.equal((await ask('/v1/webhooks', key, { url: receiver.url, channels: CHANNELS })).status, 201)

    const node = new Connection(rpcUrl, 'confirmed')
    const payer = Keypair.generate()
    await node.confirmTransaction(await node.requestAirdrop(payer.publicKey, 100 * SOL))
    let sends = 0
    /** Submits a transfer; returns its signature. */
    const submit = async (): Promise<string> => {
      const latest = await node.getLatestBlockhash()
      const transfer = { fromPubkey: payer.publicKey, toPubkey: Keypair.generate().publicKey }
      const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(
        SystemProgram.transfer({ ...transfer, lamports: SOL / 100 + ++sends })
      )
      transaction.sign(payer)
      const { status, body } = await ask('/v1/tx/send', key, {
        tx: transaction.serialize().toString('base64')
      })
      t.equal(status, 200, JSON.stringify(body))
      return String(body['signature'])
    }
    await until(async () => cursors.length > 0 && receiver.batches() > 0, 'events')

    const optional = [...starts(supervision.tree()).keys()].filter(
      (path) => !NOT_OPTIONAL.includes(path) && !path.startsWith('chain/')
    )
    t.ok(optional.length >= 16, optional.join())
    for (const path of optional) {
      receiver.hold()
      await until(async () => receiver.held.length > 0, 'a POST is in flight')
      const signature = await submit()
      const before = starts(supervision.tree())
      const [seen, posts] = [cursors.length, receiver.batches()]
      t.ok(supervision.kill(path, new Error('killed by the test')), `${path} is killed`)
      await until(async () => starts(supervision.tree()).get(path)! > before.get(path)!, `${path} restarts`)
      receiver.release()
      await until(async () => cursors.length > seen + 5, `events after the crash of ${path}`)
      await until(async () => receiver.batches() > posts, `a batch after the crash of ${path}`)
      await until(
        async () =>
          /confirmed|finalized/.test(String((await ask(`/v1/tx/${signature}/status`, key)).body['state'])),
        `the transaction is confirmed after the crash of ${path}`
      )
      t.notOk(isClosed, `the WebSocket is open after the crash of ${path}`)
      const expected = [path, ...(USERS[path] ?? [])]
      const restarted = (): string[] =>
        [...starts(supervision.tree())].filter(([at, count]) => count !== before.get(at)).map(([at]) => at)
      // Those that use it finish their work first.
      await until(
        async () => expected.every((each) => restarted().includes(each)),
        `what uses ${path} restarts with it`
      )
      t.same(restarted().toSorted(), expected.toSorted(), `${path} restarts alone, or with what uses it`)
    }
    t.same(
      cursors,
      [...new Set(cursors)].toSorted((a, b) => a - b),
      'no event is lost in order or repeated'
    )
  }
)
