import t from 'tap'
import { LEDGER_PIECE } from '../../src/revenue/ledger-document.ts'
import { Documents } from '../../storage/documents.ts'
import { startNode, urlOf } from '../localnet/node/node-client.ts'
import { jobIn, nodeOf, startBackfill, watchSince, whole } from '../revenue/history-world.ts'
import { LedgerWorld } from '../revenue/ledger-world.ts'
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
  t.match(equal.stderr, /\d+ accounts of 2 ledgers compared, 0 differences, 0 ledgers not compared/)

  const pieces = new Documents(world.storage.documents, LEDGER_PIECE)
  const all = await pieces.all(first)
  const damaged = all.find(({ value }) => value.slot > all[0]!.value.slot && value.entries.length === 1)!
  const [entry] = damaged.value.entries
  await pieces.delete(damaged)
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
