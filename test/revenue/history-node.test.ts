import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { RpcHistoryNode } from '../../src/revenue/history-node.ts'
import { slotAtTime } from '../../src/revenue/slot-at-time.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { Choices } from '../../storage/test/choices.ts'
import { TokenTraffic } from '../followers/token-traffic.ts'
import { openBank } from '../localnet/bank/sending.ts'
import { startNode, urlOf } from '../localnet/node/node-client.ts'
import { startBackfill, watchSince, whole } from './history-world.ts'
import { LedgerWorld } from './ledger-world.ts'

const end = new AbortController().signal

/** Starts a proxy in front of a node that changes its answers; null is HTTP 429. */
async function proxyOf(
  t: Test,
  url: string,
  change: (method: string, answer: Record<string, unknown>) => Record<string, unknown> | null
): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const { method } = JSON.parse(body) as { method: string }
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(url, { method: 'POST', headers, body })
      const changed = change(method, (await answer.json()) as Record<string, unknown>)
      if (changed === null) response.writeHead(429, { 'retry-after': '1' }).end()
      else response.writeHead(200, headers).end(JSON.stringify(changed))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a node that states no place of a transaction gives the place that its block states', async (t) => {
  const bank = await openBank({ seed: 'places' })
  const traffic = await TokenTraffic.open(bank, new Choices(81))
  for (let slot = 0; slot < 10; slot++) {
    traffic.send(5)
    await bank.produceSlot()
  }
  for (let slot = 0; slot < 40; slot++) await bank.produceSlot()
  const url = urlOf(await startNode(t, bank))
  const withoutPlace = await proxyOf(t, url, (method, answer) => {
    if (method !== 'getTransaction' || answer['result'] === null) return answer
    const { transactionIndex, ...result } = answer['result'] as Record<string, unknown>
    return { ...answer, result }
  })
  const open = (of: string): RpcHistoryNode => new RpcHistoryNode(() => [of], systemPorts.clock, 10_000)
  const [node, older] = [open(url), open(withoutPlace)]
  t.teardown(() => Promise.all([node.close(), older.close()]))
  const listed = (await node.signatures(traffic.wallets[0]!.toBase58(), null, end))!
  t.ok(listed.length > 10)
  const places = new Set<number | null>()
  for (const each of listed) {
    const [stated, found] = [await node.transaction(each, end), await older.transaction(each, end)]
    if (stated.kind !== 'transaction' || found.kind !== 'transaction') throw new Error(found.kind)
    t.equal(found.transaction.index, stated.transaction.index)
    places.add(found.transaction.index)
  }
  t.ok(places.size > 2, 'at several places')
  const unknown = { signature: '1'.repeat(64), slot: 3 }
  t.match(await node.transaction(unknown, end), { kind: 'absent' })
  t.equal(
    await node.signatures(traffic.wallets[0]!.toBase58(), '1'.repeat(64), end),
    null,
    'an unknown place'
  )
})

t.test('a node that answers HTTP 429 is asked again after its pause, and the history is whole', async (t) => {
  const world = await LedgerWorld.open(t, 82)
  await world.slots(30)
  let answers = 0
  const url = await proxyOf(t, urlOf(await startNode(t, world.bank)), (_, answer) =>
    ++answers % 40 === 0 ? null : answer
  )
  const node = new RpcHistoryNode(() => [url], systemPorts.clock, 10_000)
  t.teardown(() => node.close())
  const [address] = world.wallets as [string]
  await watchSince(world, address)
  await world.settled('begun')
  const running = startBackfill(node, world.storage)
  t.teardown(() => running.stop())
  await whole(world, [address])
  t.ok(answers > 80, `${answers} requests`)
})

t.test('without a node, a request fails as for a node that cannot be reached', async (t) => {
  const node = new RpcHistoryNode(() => [], systemPorts.clock, 1)
  await t.rejects(node.finalizedSlot(end), NodeError)
})

t.test('the slot of a time is the first block that is not before it', async (t) => {
  /** A chain with a block in each third slot, a second after the last one. */
  const chain = (first: number) => ({
    firstSlot: async () => first,
    blockFrom: async (slot: number) => {
      const at = Math.ceil(slot / 3) * 3
      return at > 3_000 ? null : { slot: at, ts: at / 3 }
    }
  })
  t.equal(await slotAtTime(chain(0), 100, 2_000, end), 298, 'the slots before it have no block')
  t.equal(await slotAtTime(chain(0), 0, 2_000, end), 0)
  t.equal(await slotAtTime(chain(0), 5_000, 2_000, end), 1_999, 'no earlier block is as late')
  t.equal(await slotAtTime(chain(600), 100, 2_000, end), 0, 'the node has no block of that time')
  t.equal(await slotAtTime(chain(600), 201, 2_000, end), 601)
  t.equal(await slotAtTime(chain(Infinity), 100, 2_000, end), 0)
  const timeless = { ...chain(0), blockFrom: async (slot: number) => ({ slot, ts: null }) }
  t.equal(await slotAtTime(timeless, 100, 2_000, end), 1, 'blocks without a time are taken for late ones')
})
