import { once } from 'node:events'
import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { SOCKETS_PER_KEY_MAX } from '../../../src/access/key-sockets.ts'
import type { Localnet } from '../../../src/localnet/localnet.ts'
import { closeConnection } from '../../node/web3-flows.ts'
import { startOwnLocalnet } from '../../service/own-localnet.ts'
import { serveSockets, type ServedSockets } from './served-sockets.ts'
import { kitSession, web3Session } from './wallet.ts'
import { until } from '../../until.ts'

const SLOT_MS = 100

async function world(t: Test): Promise<ServedSockets & { readonly net: Localnet; readonly url: string }> {
  const net = await startOwnLocalnet(t, t.testdir(), SLOT_MS)
  const { host, port, pubsubPort } = net.node
  const node = { url: `http://${host}:${port}`, wsUrl: `ws://${host}:${pubsubPort}` }
  return { ...(await serveSockets(t, [node])), net, url: node.url }
}

/** Connects, and resolves with the status of the handshake and the socket. */
async function connect(url: string, headers: Readonly<Record<string, string>> = {}) {
  const socket = new WebSocket(url, { headers })
  socket.on('error', () => undefined)
  const opened = once(socket, 'open').then(() => 101)
  const refused = once(socket, 'unexpected-response').then(
    ([, answer]) => (answer as { statusCode: number }).statusCode
  )
  const status = await Promise.race([opened, refused])
  opened.catch(() => undefined)
  refused.catch(() => undefined)
  return { socket, status }
}

async function ask(socket: WebSocket, method: string, params: unknown = []): Promise<unknown> {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: method, method, params }))
  for (;;) {
    const [data] = (await once(socket, 'message')) as [Buffer]
    const message = JSON.parse(data.toString()) as { id?: string }
    if (message.id === method) return message
  }
}

t.test('unmodified web3.js and kit use the socket as that of a node', async (t) => {
  const { app, urlFor, url, faults, hub } = await world(t)
  const socketUrl = urlFor(await app.makeKey(['rpc:read']))
  await web3Session(t, url, socketUrl)
  await kitSession(t, url, socketUrl)
  await until(() => hub.size === 0)
  t.same(faults, [], 'the last client that left has ended the subscriptions at the node')
})

t.test(
  'the node drops its sockets: clients keep their subscriptions, and hear what has happened',
  async (t) => {
    const { app, urlFor, url, net, metrics, hub } = await world(t)
    const connection = new Connection(url, {
      commitment: 'confirmed',
      wsEndpoint: urlFor(await app.makeKey(['rpc:read']))
    })
    t.teardown(() => closeConnection(connection))
    const { publicKey } = Keypair.generate()
    const balances: number[] = []
    const slots: number[] = []
    connection.onAccountChange(publicKey, ({ lamports }) => balances.push(lamports))
    connection.onSlotChange(({ slot }) => slots.push(slot))
    await until(() => slots.length > 0)
    await connection.confirmTransaction(await connection.requestAirdrop(publicKey, LAMPORTS_PER_SOL))
    await until(() => balances.length === 1)
    net.node.faults.dropSockets()
    t.ok(net.node.faults.fired.droppedSockets > 0, 'the fault has fired')
    // This change causes no notification: it is found when the account is read again.
    const second = await connection.requestAirdrop(publicKey, LAMPORTS_PER_SOL)
    await until(() => balances.length === 2)
    t.same(balances, [LAMPORTS_PER_SOL, 2 * LAMPORTS_PER_SOL])
    await connection.confirmTransaction(second)
    await until(() => slots.length > 8)
    t.same(
      slots,
      [...new Set(slots)].sort((a, b) => a - b),
      'slots never go back'
    )
    const { values } = await metrics.pubsub.losses.get()
    t.equal(values[0]!.value, 1)
    t.equal(hub.waiting, 0)
  }
)

t.test(
  'a socket needs a good key with the scope, of a page that may use it, and closes with the key',
  async (t) => {
    const { app, urlFor, sockets } = await world(t)
    const key = await app.makeKey(['rpc:read'], { corsOrigins: ['https://wallet.example'] })
    const base = urlFor('')
    t.equal((await connect(base)).status, 401)
    t.equal((await connect(`${base}mr_live_unknown`)).status, 401)
    t.equal((await connect(urlFor(await app.makeKey(['data:read'])))).status, 403)
    t.equal((await connect(urlFor(key), { origin: 'https://evil.example' })).status, 403)
    t.equal((await connect(urlFor(key), { origin: 'https://wallet.example' })).status, 101)
    t.equal((await connect(base.split('?')[0]!, { 'x-api-key': key })).status, 101)
    const { status, socket } = await connect(base.split('?')[0]!, { authorization: `Bearer ${key}` })
    t.equal(status, 101)
    t.match(await ask(socket, 'slotSubscribe'), { result: 1 })
    t.match(await ask(socket, 'getHealth'), { result: 'ok' }, 'requests beside subscriptions are answered')
    for (let open = sockets.size; open < SOCKETS_PER_KEY_MAX; open++)
      t.equal((await connect(urlFor(key))).status, 101)
    t.equal((await connect(urlFor(key))).status, 429, 'one more than twenty')
    const closed = once(socket, 'close')
    const id = app.keys.find(key, { remoteAddress: '127.0.0.1' })!.keyId
    await app.keys.revoke(id, app.nowMs)
    const [code, reason] = (await closed) as [number, Buffer]
    t.same([code, reason.toString()], [4401, 'this API key is revoked'])
    await until(() => sockets.size === 0)
  }
)

t.test(
  'a message beyond 256 KiB closes with 1009, a batch of 21 is refused, and a drain closes with 1001',
  async (t) => {
    const { app, urlFor, sockets, hub } = await world(t)
    const key = await app.makeKey(['rpc:read'])
    const [first, second] = [await connect(urlFor(key)), await connect(urlFor(key))]
    const closed = once(first.socket, 'close')
    first.socket.send('x'.repeat(257 * 1024))
    t.equal((await closed)[0], 1009)
    second.socket.send(JSON.stringify(Array(21).fill({ jsonrpc: '2.0', id: 1, method: 'getSlot' })))
    const [data] = (await once(second.socket, 'message')) as [Buffer]
    t.match(JSON.parse(data.toString()), { id: null, error: { code: -32600, data: { limit: 20 } } })
    t.match(await ask(second.socket, 'logsSubscribe', ['all']), { result: 1 })
    const ended = once(second.socket, 'close')
    await sockets.drain(AbortSignal.abort())
    t.equal((await ended)[0], 1001)
    await until(() => hub.size === 0)
  }
)
