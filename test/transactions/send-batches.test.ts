import t, { type Test } from 'tap'
import { nodeAddresses } from '../../src/node/node-address.ts'
import { RpcClient } from '../../src/node/rpc-client.ts'
import { systemPorts } from '../../src/ports.ts'
import { SendBatches } from '../../src/transactions/send-batches.ts'
import { settle } from '../virtual-time.ts'
import { AnsweringNode } from './answering-node.ts'

const { signal } = new AbortController()

async function batchesOf(t: Test): Promise<{ readonly node: AnsweringNode; readonly batches: SendBatches }> {
  const node = await AnsweringNode.start(t)
  node.answer = ({ params }) =>
    params[0] === 'bad' ? { error: { code: -32602, message: 'bad one' } } : { result: params[0] }
  const client = new RpcClient(nodeAddresses([node.url])[0]!, systemPorts.clock)
  t.teardown(() => client.close())
  return { node, batches: new SendBatches(client) }
}

const outcomesOf = async (batches: SendBatches, transactions: readonly string[]): Promise<string[]> => {
  const settled = await Promise.allSettled(transactions.map((each) => batches.send(each, signal)))
  return settled.map((each) => (each.status === 'fulfilled' ? 'taken' : (each.reason as Error).message))
}

const sizes = ({ posts }: AnsweringNode): number[] =>
  posts.map((post) => (Array.isArray(post) ? post.length : 0))

t.test('sends of one turn go in batches of 64 in their order; one alone goes by itself', async (t) => {
  const { node, batches } = await batchesOf(t)
  const many = Array.from({ length: 130 }, (_, at) => `t${at}`)
  t.same(new Set(await outcomesOf(batches, many)), new Set(['taken']))
  t.same(sizes(node).toSorted(), [2, 64, 64])
  for (const post of node.posts as { readonly params: readonly unknown[] }[][]) {
    const first = many.indexOf(post[0]!.params[0] as string)
    t.same(
      post.map(({ params }) => params[0]),
      many.slice(first, first + post.length)
    )
  }
  t.same(await outcomesOf(batches, ['alone']), ['taken'])
  t.equal(sizes(node).at(-1), 0)
})

t.test('a batch of the largest transactions stays below the 50 KiB that agave reads of a body', async (t) => {
  const { node, batches } = await batchesOf(t)
  const largest = Array.from({ length: 64 }, (_, at) => String(at).padEnd(1_644, 'A'))
  t.same(new Set(await outcomesOf(batches, largest)), new Set(['taken']))
  t.same(sizes(node).toSorted(), [18, 23, 23])
  t.ok(node.posts.every((post) => JSON.stringify(post).length < 50 * 2 ** 10))
})

t.test('a member that is refused is refused alone, in whatever order the answers come', async (t) => {
  for (const isReversed of [false, true]) {
    const { node, batches } = await batchesOf(t)
    node.isReversed = isReversed
    const outcomes = await outcomesOf(batches, ['a', 'bad', 'b'])
    t.match(outcomes, ['taken', /-32602: bad one/, 'taken'])
    t.same(sizes(node), [3], 'nothing is sent twice')
  }
})

for (const refusal of [{ status: 413 }, { status: 400 }, { error: { code: -32600, message: 'no batches' } }])
  t.test(
    `a node that refuses batches by ${JSON.stringify(refusal)} gets single requests from then on`,
    async (t) => {
      const { node, batches } = await batchesOf(t)
      node.batches = refusal
      t.match(await outcomesOf(batches, ['a', 'bad', 'b']), ['taken', /bad one/, 'taken'])
      t.same(sizes(node), [3, 0, 0, 0])
      t.same(await outcomesOf(batches, ['c', 'd']), ['taken', 'taken'])
      t.same(sizes(node), [3, 0, 0, 0, 0, 0])
    }
  )

t.test('a batch that may have been taken is not sent again, and the next one is a batch', async (t) => {
  const { node, batches } = await batchesOf(t)
  node.batches = { status: 500 }
  t.match(await outcomesOf(batches, ['a', 'b']), [/HTTP 500/, /HTTP 500/])
  node.batches = null
  t.same(await outcomesOf(batches, ['a', 'b']), ['taken', 'taken'])
  t.same(sizes(node), [2, 2])
})

t.test('a send that is given up rejects at once, and the others of its batch do not', async (t) => {
  const { batches } = await batchesOf(t)
  const giveUp = new AbortController()
  const [given, kept] = [batches.send('a', giveUp.signal), batches.send('b', signal)]
  giveUp.abort(new Error('given up'))
  await t.rejects(given, /given up/)
  await t.resolves(kept)
  await t.rejects(batches.send('c', giveUp.signal), /given up/)
})

t.test('with all requests in flight, first sends go on at once, and tenants take turns', async (t) => {
  const posts: { readonly names: readonly string[]; readonly answer: () => void }[] = []
  const hang = (names: readonly string[]): Promise<unknown[]> =>
    new Promise((resolve) => posts.push({ names, answer: () => resolve(names.map(() => null)) }))
  const client = {
    call: async (_: string, params: readonly unknown[]) => {
      await hang([params[0] as string])
      return { result: null, body: Buffer.alloc(0) }
    },
    batch: (_: string, calls: readonly (readonly unknown[])[]) => hang(calls.map(([name]) => name as string))
  }
  const batches = new SendBatches(client)
  const sends: Promise<void>[] = []
  for (let nth = 0; nth < 2_000; nth++)
    sends.push(batches.send(`a${nth}`, signal, { tenant: 'a', rank: 'resend' }))
  await settle()
  t.equal(posts.length, 24, 'repeats leave some requests to first sends')
  sends.push(batches.send('b first', signal, { tenant: 'b', rank: 'first' }))
  await settle()
  t.equal(posts.length, 25)
  t.equal(posts[24]!.names[0], 'b first')
  sends.push(batches.send('b repeat', signal, { tenant: 'b', rank: 'resend' }))
  posts[0]!.answer()
  posts[1]!.answer()
  await settle()
  t.ok(posts[25]!.names.slice(0, 2).includes('b repeat'), 'it waits for one of the other tenant at most')
  for (let at = 2; at < posts.length; at++) {
    posts[at]!.answer()
    await settle()
  }
  await Promise.all(sends)
  t.equal(new Set(posts.flatMap(({ names }) => names)).size, 2_002)
})
