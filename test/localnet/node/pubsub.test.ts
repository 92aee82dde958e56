import { once } from 'node:events'
import { createServer } from 'node:net'
import { SystemProgram } from '@solana/web3.js'
import t from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import type { LocalChain } from '../../../src/localnet/chain.ts'
import { PUBSUB_LIMITS } from '../../../src/localnet/node/pubsub-connection.ts'
import { advance, virtualClock } from '../../virtual-time.ts'
import { blockAt, funded, land, openBank, produce, signed, transfer, wallet } from '../bank/sending.ts'
import { PubsubClient, startNode, textOf } from './node-client.ts'

const SYSTEM = '11111111111111111111111111111111'

t.test('pubsub is on the port of JSON-RPC and on the next one', async (t) => {
  const node = await startNode(t, await openBank())
  t.equal(node.pubsubPort, node.port + 1)
  for (const port of [node.port, node.pubsubPort]) {
    const client = await PubsubClient.open(t, node, port)
    t.match(await client.call('getVersion'), { result: { 'solana-core': '4.2.1' } })
  }
  const plain = await fetch(`http://127.0.0.1:${node.pubsubPort}`)
  t.equal(plain.status, 426)
})

t.test('an account is told of at the commitment that was asked for', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const node = await startNode(t, bank)
  const client = await PubsubClient.open(t, node)
  const key = wallet(2).publicKey
  const ids = new Map<string, number>()
  for (const commitment of ['processed', 'confirmed', 'finalized']) {
    const { result } = await client.call('accountSubscribe', [
      key.toBase58(),
      { commitment, encoding: 'base64' }
    ])
    ids.set(commitment, result as unknown as number)
  }
  t.equal(new Set(ids.values()).size, 3)
  await land(bank, [transfer(payer, key, 10n ** 9n)], [payer])
  await client.drained()
  const of = (commitment: string): unknown[] => client.notified('account', ids.get(commitment))
  const expected = {
    context: { slot: 2 },
    value: {
      lamports: 10 ** 9,
      data: ['', 'base64'],
      owner: SYSTEM,
      executable: false,
      rentEpoch: 18446744073709551615,
      space: 0
    }
  }
  t.same([of('processed'), of('confirmed'), of('finalized')], [[expected], [], []])
  await produce(bank, 1)
  await client.drained()
  t.same([of('confirmed'), of('finalized')], [[expected], []])
  await produce(bank, 31)
  await client.drained()
  t.same([of('processed'), of('confirmed'), of('finalized')], [[expected], [expected], [expected]])
  t.same(await client.call('accountUnsubscribe', [ids.get('processed')]).then(({ result }) => result), true)
  await land(bank, [transfer(payer, key, 1n)], [payer])
  await client.drained()
  t.equal(of('processed').length, 1)
})

t.test('accounts of a program are told of where the filters let them through', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const node = await startNode(t, bank)
  const client = await PubsubClient.open(t, node)
  const subscribe = async (filters: unknown[]): Promise<number> => {
    const { result } = await client.call('programSubscribe', [
      SYSTEM,
      { commitment: 'processed', encoding: 'base64', filters }
    ])
    return result as unknown as number
  }
  const all = await subscribe([])
  const none = await subscribe([{ dataSize: 5 }])
  await land(bank, [transfer(payer, wallet(2).publicKey, 10n ** 9n)], [payer])
  await client.drained()
  const keys = client.notified('program', all).map(({ value }) => textOf(value!.pubkey))
  t.same(keys.sort(), [payer, wallet(2)].map(({ publicKey }) => publicKey.toBase58()).sort())
  t.match(client.notified('program', all)[0], { context: { slot: 2 }, value: { account: { owner: SYSTEM } } })
  t.same(client.notified('program', none), [])
})

t.test('an account too long for base58, the default encoding, is told of with a text instead', async (t) => {
  const bank = await openBank()
  const [payer, made] = [await funded(bank, 1), wallet(2)]
  const node = await startNode(t, bank)
  const client = await PubsubClient.open(t, node)
  const tooLong = 'error: data too large for bs58 encoding'
  const subscribe = async (config: object): Promise<number> =>
    (await client.call('programSubscribe', [SYSTEM, { commitment: 'processed', ...config }]))
      .result as unknown as number
  const filters = [{ dataSize: 200 }]
  const sliced = { filters, encoding: 'base58', dataSlice: { offset: 0, length: 2 } }
  const ids = [
    await subscribe({ filters }),
    await subscribe({ filters, encoding: 'base58' }),
    await subscribe(sliced)
  ]
  const own = await client.call('accountSubscribe', [made.publicKey.toBase58(), { commitment: 'processed' }])
  const instruction = SystemProgram.createAccount({
    fromPubkey: payer.publicKey,
    newAccountPubkey: made.publicKey,
    lamports: 10 ** 9,
    space: 200,
    programId: SystemProgram.programId
  })
  await land(bank, [instruction], [payer, made])
  await client.drained()
  const pubkey = made.publicKey.toBase58()
  for (const [id, data] of [tooLong, [tooLong, 'base58'], ['11', 'base58']].entries())
    t.match(client.notified('program', ids[id]), [{ value: { pubkey, account: { data, space: 200 } } }])
  t.match(client.notified('account', own.result as unknown as number), [{ value: { data: tooLong } }])
})

t.test('logs are told of all transactions, or of those that mention an account', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const other = await funded(bank, 2)
  const node = await startNode(t, bank)
  const client = await PubsubClient.open(t, node)
  const subscribe = async (filter: unknown): Promise<number> =>
    (await client.call('logsSubscribe', [filter, { commitment: 'processed' }])).result as unknown as number
  const all = await subscribe('all')
  const withVotes = await subscribe('allWithVotes')
  const mentions = await subscribe({ mentions: [other.publicKey.toBase58()] })
  const of = (id: number): unknown[] => client.notified('logs', id)
  const failed = await land(bank, [transfer(payer, wallet(3).publicKey, 10n ** 15n)], [payer], {
    skipPreflight: true
  })
  await land(bank, [transfer(other, wallet(3).publicKey, 10n ** 9n)], [other])
  await client.drained()
  t.equal(of(all).length, 2)
  t.same(of(withVotes), of(all))
  t.match(of(all)[0], {
    context: { slot: 3 },
    value: {
      signature: encodeBase58(failed.signature),
      err: { InstructionError: [0, { Custom: 1 }] },
      logs: [/invoke/, /insufficient lamports/, /failed/]
    }
  })
  t.same(of(mentions), [of(all)[1]])
})

t.test('a signature is told of once, at its commitment, and then it is over', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const node = await startNode(t, bank)
  const client = await PubsubClient.open(t, node)
  const wire = signed(bank, [transfer(payer, wallet(3).publicKey, 10n ** 9n)], [payer])
  const signature = encodeBase58(wire.subarray(1, 65))
  const { result } = await client.call('signatureSubscribe', [signature, { commitment: 'confirmed' }])
  const id = result as unknown as number
  bank.send(wire, { skipPreflight: false })
  await produce(bank, 1)
  await client.drained()
  t.same(client.notified('signature', id), [], 'processed only')
  await produce(bank, 40)
  await client.drained()
  t.same(client.notified('signature', id), [{ context: { slot: 2 }, value: { err: null } }])
  t.match(await client.call('signatureUnsubscribe', [id]), {
    error: { code: -32602, message: 'Invalid subscription id.' }
  })
})

t.test('a signature that has its commitment already is told of right after the answer', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const failed = await land(bank, [transfer(payer, wallet(3).publicKey, 10n ** 15n)], [payer], {
    skipPreflight: true
  })
  const node = await startNode(t, bank)
  const client = await PubsubClient.open(t, node)
  const signature = encodeBase58(failed.signature)
  const { result } = await client.call('signatureSubscribe', [signature, { commitment: 'processed' }])
  await client.until(() => client.received.length === 2)
  t.match(client.received, [
    { result: Number },
    {
      method: 'signatureNotification',
      params: { subscription: result, result: { value: { err: { InstructionError: [0, { Custom: 1 }] } } } }
    }
  ])
  const later = await client.call('signatureSubscribe', [signature, { commitment: 'finalized' }])
  await client.drained()
  t.same(client.notified('signature', later.result as unknown as number), [])
})

t.test('slots and roots are told of as they come', async (t) => {
  const bank = await openBank()
  const node = await startNode(t, bank)
  const client = await PubsubClient.open(t, node)
  t.match(await client.call('slotSubscribe'), { result: Number })
  t.match(await client.call('rootSubscribe', []), { result: Number })
  bank.faults.skip(1)
  await produce(bank, 35)
  await client.drained()
  t.same(client.notified('slot').slice(0, 2), [
    { slot: 2, parent: 0, root: 0 },
    { slot: 3, parent: 2, root: 0 }
  ])
  t.equal(client.notified('slot').length, 34)
  t.same(client.notified('root'), [2, 3])
})

t.test('those who ask for the same share a subscription, and each hears of it until it leaves', async (t) => {
  const bank = await openBank()
  const node = await startNode(t, bank)
  const [one, two] = [await PubsubClient.open(t, node), await PubsubClient.open(t, node, node.pubsubPort)]
  const ids = [
    await one.call('slotSubscribe'),
    await two.call('slotSubscribe'),
    await two.call('slotSubscribe')
  ]
  t.equal(new Set(ids.map(({ result }) => result)).size, 1)
  await produce(bank, 1)
  await Promise.all([one.drained(), two.drained()])
  t.equal(one.notified('slot').length, 1)
  t.equal(two.notified('slot').length, 1, 'once, however often it was asked for')
  await one.call('slotUnsubscribe', [ids[0]!.result])
  await produce(bank, 1)
  await Promise.all([one.drained(), two.drained()])
  t.equal(one.notified('slot').length, 1)
  t.equal(two.notified('slot').length, 2)
})

t.test('requests are refused in the words of a node', async (t) => {
  const node = await startNode(t, await openBank())
  const client = await PubsubClient.open(t, node)
  const key = wallet(1).publicKey.toBase58()
  const refused = async (
    method: string,
    params: unknown[] | undefined,
    code: number,
    message: string
  ): Promise<void> =>
    void t.match(
      (await client.call(method, params)).error,
      { code, message },
      `${method} ${JSON.stringify(params)}`
    )
  for (const method of ['blockSubscribe', 'voteSubscribe', 'getSlot', 'nope', 'constructorSubscribe']) {
    await refused(method, ['all'], -32601, 'Method not found')
  }
  await refused('accountSubscribe', undefined, -32602, '`params` should have at least 1 argument(s)')
  await refused('accountSubscribe', ['zzz'], -32602, 'Invalid Request: Invalid pubkey provided')
  await refused('signatureSubscribe', ['abc'], -32602, 'Invalid Request: Invalid signature provided')
  await refused(
    'logsSubscribe',
    [{ mentions: [key, key] }],
    -32602,
    'Invalid Request: Only 1 address supported'
  )
  for (const filter of [{}, { mentions: ['x'], other: 1 }])
    await refused(
      'logsSubscribe',
      [filter],
      -32602,
      'Invalid params: invalid value: map, expected map with a single key.'
    )
  await refused('logsSubscribe', [{ mentions: ['x'] }], -32602, 'Invalid Request: Invalid mentions provided')
  await refused(
    'logsSubscribe',
    ['some'],
    -32602,
    'Invalid params: unknown variant `some`, expected one of `all`, `allWithVotes`, `mentions`.'
  )
  await refused('slotSubscribe', [1], -32602, 'Invalid parameters: No parameters were expected')
  const filters = Array(5).fill({ dataSize: 1 })
  await refused(
    'programSubscribe',
    [key, { filters }],
    -32602,
    'Invalid params: Too many filters provided; max 4'
  )
  await refused('accountUnsubscribe', [9999], -32602, 'Invalid subscription id.')
  await refused(
    'accountUnsubscribe',
    ['x'],
    -32602,
    'Invalid params: invalid type: string "x", expected u64.'
  )
  client.socket.send('{bad')
  await client.until(() => client.received.find((message) => 'error' in message && message.id === null))
  client.socket.send(
    '[{"jsonrpc":"2.0","id":"a","method":"getVersion"},{"jsonrpc":"2.0","id":"b","method":"nope"}]'
  )
  const batch = await client.until(() => client.received.find(Array.isArray))
  t.match(batch, [
    { id: 'a', result: {} },
    { id: 'b', error: { code: -32601 } }
  ])
})

t.test('a connection is refused a subscription beyond the limit', async (t) => {
  const node = await startNode(t, await openBank(), { limits: { ...PUBSUB_LIMITS, subscriptionsMax: 2 } })
  const client = await PubsubClient.open(t, node)
  const { result } = await client.call('slotSubscribe')
  t.match(await client.call('rootSubscribe'), { result: Number })
  t.same((await client.call('logsSubscribe', ['all'])).error, {
    code: -32603,
    message: 'Internal Error: Subscription refused. Node subscription limit reached'
  })
  await client.call('slotUnsubscribe', [result])
  t.match(await client.call('logsSubscribe', ['all']), { result: Number })
})

t.test('a request that is too long closes the connection', async (t) => {
  const node = await startNode(t, await openBank())
  const client = await PubsubClient.open(t, node)
  client.socket.send(' '.repeat(50 * 1024 + 1))
  t.equal(await client.until(() => client.closed), 1009)
})

t.test('a client that does not read is cut off, and the others are not', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const executed = await land(bank, [transfer(payer, wallet(2).publicKey, 10n ** 9n)], [payer])
  const listeners = new Set<Parameters<LocalChain['listen']>[0]>()
  const chain = {
    genesisHash: bank.genesisHash,
    firstSlot: 0,
    slot: () => 0,
    block: () => ({ kind: 'pending' }),
    blockSlots: () => [],
    listen: (listener: Parameters<LocalChain['listen']>[0]) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  } as unknown as LocalChain
  const node = await startNode(t, chain, { limits: { ...PUBSUB_LIMITS, owedBytesMax: 1024 * 1024 } })
  const [deaf, other] = [await PubsubClient.open(t, node), await PubsubClient.open(t, node)]
  for (const client of [deaf, other]) await client.call('logsSubscribe', ['all', { commitment: 'processed' }])
  deaf.socket.pause()
  // Far more than the kernel buffers for a socket that is not read.
  const rounds = 40
  const loud = { ...executed, meta: { ...executed.meta, logs: ['x'.repeat(512 * 1024)] } }
  const block = { ...blockAt(bank, 2), transactions: [loud] }
  for (let round = 0; round < rounds; round++) {
    for (const listener of listeners)
      listener({ kind: 'block', commitment: 'processed', block, accounts: [] })
    await other.drained()
  }
  t.equal(other.notified('logs').length, rounds, 'the other has heard of all')
  deaf.socket.resume()
  await deaf.until(() => deaf.closed)
  t.ok(deaf.notified('logs').length < rounds)
})

t.test('a client that does not answer a ping is cut off, and one that does is not', async (t) => {
  const clock = virtualClock()
  const bank = await openBank()
  const node = await startNode(t, bank, { clock, limits: { ...PUBSUB_LIMITS, pingMs: 100 } })
  const silent = new PubsubClient(`ws://127.0.0.1:${node.port}`)
  silent.socket.on('open', () => silent.socket.pause())
  await once(silent.socket, 'open')
  const lively = await PubsubClient.open(t, node)
  await lively.drained()
  let pings = 0
  lively.socket.on('ping', () => pings++)
  await advance(clock, 100)
  await lively.until(() => pings === 1)
  await lively.drained()
  await advance(clock, 100)
  await lively.until(() => pings === 2)
  silent.socket.resume()
  t.equal(await silent.until(() => silent.closed), 1006)
  t.equal(lively.closed, null)
})

t.test('a node that ends closes its sockets and leaves the chain', async (t) => {
  const bank = await openBank()
  const node = await startNode(t, bank)
  const client = await PubsubClient.open(t, node)
  await client.call('slotSubscribe')
  await node.close()
  await client.until(() => client.closed)
  await produce(bank, 1)
  t.same(client.notified('slot'), [])
  await t.rejects(fetch(`http://127.0.0.1:${node.port}`))
})

t.test('a port that is taken ends the start', async (t) => {
  const node = await startNode(t, await openBank())
  const { startLocalNode } = await import('../../../src/localnet/node/local-node.ts')
  const options = {
    chain: await openBank(),
    clock: virtualClock(),
    host: '127.0.0.1',
    onFault: () => undefined
  }
  await t.rejects(startLocalNode({ ...options, port: node.port }), { code: 'EADDRINUSE' })
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  const { port } = blocker.address() as { port: number }
  await t.rejects(
    startLocalNode({ ...options, port: port - 1 }),
    { code: 'EADDRINUSE' },
    'so does the next one'
  )
  await t.rejects(fetch(`http://127.0.0.1:${port - 1}`), 'and nothing is left listening')
  blocker.close()
})
