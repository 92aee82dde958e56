import t, { type Test } from 'tap'
import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { systemPorts } from '../../src/ports.ts'
import { AnsweringNode } from '../transactions/answering-node.ts'

const { signal } = new AbortController()
const TOKEN = pubkeyFromBase58('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const keyOf = (number: number): Pubkey => {
  const key = new Uint8Array(32)
  new DataView(key.buffer).setUint32(0, number)
  return key
}
const text = pubkeyToBase58(TOKEN)
const account = {
  lamports: 5,
  owner: text,
  executable: false,
  rentEpoch: 18446744073709551615,
  data: ['AQID', 'base64'],
  space: 3
}
const READ = {
  lamports: 5n,
  owner: TOKEN,
  executable: false,
  rentEpoch: 2n ** 64n - 1n,
  data: new Uint8Array([1, 2, 3])
}
const inContext = (value: unknown, slot: unknown = 200) => ({ result: { context: { slot }, value } })

async function clientOf(t: Test, ...nodes: readonly AnsweringNode[]): Promise<RpcAccountNode> {
  const client = new RpcAccountNode(() => nodes.map(({ url }) => url), systemPorts.clock)
  t.teardown(() => client.close())
  return client
}

const faultOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'an answer',
    (error: unknown) => (error instanceof NodeError ? error.fault.kind : error)
  )

t.test('accounts come in the order of the addresses, null for one that is not there', async (t) => {
  const node = await AnsweringNode.start(t)
  node.answer = () => inContext([null, account])
  const client = await clientOf(t, node)
  t.same(await client.accounts([keyOf(1), keyOf(2)], signal), { slot: 200, accounts: [null, READ] })
  t.match(node.requests, [
    {
      method: 'getMultipleAccounts',
      params: [
        [pubkeyToBase58(keyOf(1)), pubkeyToBase58(keyOf(2))],
        { encoding: 'base64', commitment: 'confirmed' }
      ]
    }
  ])
})

t.test('250 accounts are asked for in three requests, and are as of the oldest of their slots', async (t) => {
  const node = await AnsweringNode.start(t)
  node.answer = ({ params }) => {
    const asked = params[0] as string[]
    return inContext(
      asked.map((each) => ({ ...account, owner: each })),
      asked.length === 50 ? 199 : 200
    )
  }
  const client = await clientOf(t, node)
  const addresses = Array.from({ length: 250 }, (_, at) => keyOf(at + 1))
  const { slot, accounts } = await client.accounts(addresses, signal)
  t.equal(slot, 199)
  t.same(
    accounts.map((each) => each?.owner),
    addresses
  )
  t.same(node.requests.map(({ params }) => (params[0] as string[]).length).toSorted(), [100, 100, 50])
})

t.test('lamports above 2^53 are exact', async (t) => {
  const node = await AnsweringNode.start(t)
  const exact = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('12345678901234567')
  node.answer = () => inContext([{ ...account, lamports: exact }, account])
  const client = await clientOf(t, node)
  const { accounts } = await client.accounts([keyOf(1), keyOf(2)], signal)
  t.same(
    accounts.map((each) => each?.lamports),
    [12345678901234567n, 5n]
  )
})

t.test('token accounts of a wallet, and accounts of a program by filters and a slice', async (t) => {
  const node = await AnsweringNode.start(t)
  const pubkey = pubkeyToBase58(keyOf(9))
  node.answer = () => inContext([{ pubkey, account }])
  const client = await clientOf(t, node)
  const found = { slot: 200, accounts: [{ address: keyOf(9), account: READ }] }
  t.same(await client.tokenAccounts(keyOf(1), TOKEN, signal), found)
  const memcmp = [{ offset: 32, bytes: new Uint8Array([1, 2]) }]
  t.same(await client.programAccounts(TOKEN, { dataSize: 165, memcmp }, signal), found)
  const slice = { offset: 1, length: 2 }
  node.answer = () => inContext([{ pubkey, account: { ...account, data: ['AgM=', 'base64'] } }])
  t.match(await client.programAccounts(TOKEN, { dataSlice: slice }, signal), {
    accounts: [{ account: { data: new Uint8Array([2, 3]) } }]
  })
  const form = { encoding: 'base64', commitment: 'confirmed' }
  t.same(
    node.requests.map(({ method, params }) => [method, params]),
    [
      ['getTokenAccountsByOwner', [pubkeyToBase58(keyOf(1)), { programId: text }, form]],
      [
        'getProgramAccounts',
        [
          text,
          {
            ...form,
            withContext: true,
            filters: [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: '5T' } }]
          }
        ]
      ],
      ['getProgramAccounts', [text, { ...form, withContext: true, filters: [], dataSlice: slice }]]
    ]
  )
})

const WRONG: readonly [name: string, value: unknown, slot?: unknown][] = [
  ['fewer accounts than addresses', []],
  ['more accounts than addresses', [account, account]],
  ['no list', { account }],
  ['no slot', [account], null],
  ['a slot in text', [account], '200'],
  ['an account that is none', [7]],
  ['an account without data', [{ ...account, data: undefined }]],
  ['data in another encoding', [{ ...account, data: ['Ldp', 'base58'] }]],
  ['data that is no base64', [{ ...account, data: ['AQI%', 'base64'] }]],
  ['data cut off in a group', [{ ...account, data: ['AQIDB', 'base64'] }]],
  ['less data than its space', [{ ...account, data: ['AQI=', 'base64'] }]],
  ['an owner that is no address', [{ ...account, owner: 'o' }]],
  ['negative lamports', [{ ...account, lamports: -1 }]],
  ['lamports in text', [{ ...account, lamports: '5' }]],
  ['no flag of a program', [{ ...account, executable: null }]]
]
t.test('an answer of the wrong form is a fault, and never an account', async (t) => {
  const node = await AnsweringNode.start(t)
  const client = await clientOf(t, node)
  for (const [name, value, slot = 200] of WRONG) {
    node.answer = () => inContext(value, slot)
    t.equal(await faultOf(client.accounts([keyOf(1)], signal)), 'garbage', name)
  }
})

t.test('a node that is away is passed over; without any, a request fails at once', async (t) => {
  const [one, two] = [await AnsweringNode.start(t), await AnsweringNode.start(t)]
  for (const [node, slot] of [
    [one, 140],
    [two, 100]
  ] as const) {
    node.answer = ({ method }) => (method === 'getSlot' ? { result: slot } : inContext([account], slot))
  }
  const client = await clientOf(t, one, two)
  t.match(await client.accounts([keyOf(1)], signal), { slot: 140 })
  await one.stop()
  t.match(await client.accounts([keyOf(1)], signal), { slot: 100 })
  await two.stop()
  t.equal(await faultOf(client.accounts([keyOf(1)], signal)), 'unreachable')
  t.equal(await faultOf((await clientOf(t)).accounts([keyOf(1)], signal)), 'unreachable')
})
