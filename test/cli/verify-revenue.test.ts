import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { RpcHistoryNode } from '../../src/revenue/history-node.ts'
import { startNode, urlOf } from '../localnet/node/node-client.ts'
import { jobIn, nodeOf, startBackfill, watchSince, whole } from '../revenue/history-world.ts'
import { LedgerWorld } from '../revenue/ledger-world.ts'
import { storedParts } from '../revenue/stored-ledger.ts'
import { runCommand } from './run-command.ts'

t.test('ledgers that equal the chain are verified, and each difference is printed', async (t) => {
  const world = await LedgerWorld.open(t, 51)
  const [first, second, third] = world.wallets as [string, string, string]
  await world.watch(first)
  await world.settled('begun')
  await world.slots(30)
  await watchSince(world, second)
  await world.settled('begun with history')
  const { node } = await nodeOf(t, world.bank)
  const running = startBackfill(node, world.storage)
  await whole(world, [second])
  await running.stop()
  t.match(await jobIn(world.storage, second), { phase: 'done' })
  // The node has finalized no later block than the ledger has.
  await world.settled('at the end')
  const local = await startNode(t, world.bank)
  const flags = ['--revenue', '--data-dir', t.testdirName, '--rpc-url', urlOf(local)]
  const verify = (...args: string[]) => runCommand(['verify', ...args, ...flags])

  const beside = await verify()
  t.match(beside, { code: 0, lines: [] })
  t.match(beside.stderr, /comparing snapshots of it/, 'while the store is open')
  await world.stop()
  const equal = await verify()
  t.match(equal, { code: 0, lines: [] })
  t.match(
    equal.stderr,
    /\d+ accounts of 2 ledgers compared, 0 differences, 0 ledgers that may lack rewards, 0 ledgers not compared/
  )

  const { ledger: pages } = world.storage
  const { captureFrom } = (await world.watched()).find(({ address }) => address === first)!
  // Rows from before the start of the ledger do not count, and without the first row of an account it only begins later.
  const all = (await storedParts(pages, first)).filter(({ slot }) => slot >= captureFrom!.slot)
  const seen = new Set<string>()
  const damaged = all.find(({ entries }) => {
    const keys = entries.map(({ account, mint, isNative }) => [account, mint, isNative].join())
    const isLater = keys.every((key) => seen.has(key))
    for (const key of keys) seen.add(key)
    return isLater && keys.length === 1
  })!
  const [entry] = damaged.entries
  await pages.drop({ token: systemPorts.clock.now(), owner: first, slots: [damaged.slot] })
  const different = await verify()
  t.equal(different.code, 1)
  t.match(different.rows(), [
    { kind: 'balance', tenant: 'a', address: first, account: entry!.account, mint: entry!.mint }
  ])
  const [{ ledger, chain }] = different.rows() as [{ ledger: string; chain: string }]
  t.equal(BigInt(chain) - BigInt(ledger), entry!.post - entry!.pre, 'by the change that is missing')
  t.match(await verify(second), { code: 0, lines: [] }, 'the other address alone')

  t.match(await verify(third), { code: 1, stderr: /no tenant watches/ })
  t.match(await verify('nonsense'), { code: 2, stderr: /verify --revenue takes addresses, not nonsense/ })
  t.match(await runCommand(['verify', '--revenue', '--data-dir', t.testdirName]), {
    code: 2,
    stderr: /set the node to compare with/
  })
})

/** Passes requests to a node, and answers that some accounts belong to the stake program. */
async function nodeOfStakes(t: Test, url: string, stakes: readonly string[]): Promise<string> {
  const server = createServer((asked, reply) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of asked) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body
      })
      const { method, params } = JSON.parse(body) as { method: string; params: [string[]] }
      const result = (await answer.json()) as { result: { value: { owner: string }[] } }
      if (method === 'getMultipleAccounts')
        for (const [at, account] of params[0].entries())
          if (stakes.includes(account))
            result.result.value[at]!.owner = 'Stake11111111111111111111111111111111111111'
      reply.setHeader('content-type', 'application/json').end(JSON.stringify(result))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('the history of a stake account from a node may lack rewards, and is never complete', async (t) => {
  const world = await LedgerWorld.open(t, 53)
  const [stake, wallet] = world.wallets as [string, string]
  await world.slots(40)
  for (const address of [stake, wallet]) await watchSince(world, address, { slot: 20, ts: null })
  await world.settled('begun')
  const local = await startNode(t, world.bank)
  const url = await nodeOfStakes(t, urlOf(local), [stake])
  const node = new RpcHistoryNode(() => [url], systemPorts.clock, 100_000)
  const running = startBackfill(node, world.storage)
  await whole(world, [stake, wallet])
  await running.stop()
  await node.close()
  const watched = (await world.watched()).find(({ address }) => address === stake)!
  const to = watched.captureFrom!.slot - 1
  const hole = { reason: 'rewards-absent', from: 20, to }
  t.strictSame((await jobIn(world.storage, stake))!.holes, [{ ...hole, blocks: null }])
  t.strictSame((await jobIn(world.storage, wallet))!.holes, [], 'no wallet has rewards of stake')
  await world.settled('at the end')
  await world.stop()
  const said = await runCommand(['verify', '--revenue', '--data-dir', t.testdirName, '--rpc-url', url])
  t.equal(said.code, 1)
  t.match(said.rows(), [
    { kind: 'hole', tenant: 'a', address: stake, reason: 'rewards-absent', from_slot: 20, to_slot: to }
  ])
  t.match(said.stderr, /0 differences, 1 ledgers that may lack rewards/)
})

t.test('a ledger that ends before the node’s newest block is not compared', async (t) => {
  const world = await LedgerWorld.open(t, 52)
  const [first] = world.wallets as [string]
  await world.watch(first)
  await world.settled('begun')
  await world.stop()
  await world.slots(60)
  const local = await startNode(t, world.bank)
  const interrupted = AbortSignal.timeout(1_000)
  const args = ['verify', '--revenue', '--data-dir', t.testdirName, '--rpc-url', urlOf(local)]
  t.match(await runCommand(args, {}, interrupted), { code: 1, stderr: /not compared|interrupted/ })
})
