import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { NodeError } from '../../src/node/node-fault.ts'
import type { RpcClient } from '../../src/node/rpc-client.ts'
import { RpcNode } from '../../src/node/rpc-node.ts'
import { systemPorts } from '../../src/ports.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { loneIngester } from '../actors/ingest/lone-ingester.ts'
import { absurdChanges, withAbsurdNumbers } from '../chain/absurd-numbers.ts'
import { fixtureTransactions, testWithFixtures } from '../fixtures.ts'
import { randomRuns } from '../random-runs.ts'
import { at, FaultyNode, jsonChain } from './faulty-node.ts'
import { SourceRun } from './source-run.ts'

const { signal } = new AbortController()

/** A node that answers every request with one result. */
function nodeOf(result: unknown): RpcNode {
  const client = { name: 'node', call: async () => ({ result, body: Buffer.of() }) }
  return new RpcNode(client as unknown as RpcClient, 'confirmed', systemPorts.clock)
}

testWithFixtures(
  t,
  'whatever numbers a block of a node holds, ingest takes it or the answer names the fault (INVARIANTS 9)',
  async (t) => {
    const records = fixtureTransactions().map(({ result }) => result as Record<string, unknown>)
    const directory = t.testdir()
    let [taken, refused] = [0, 0]
    const given = fc.record({ which: fc.nat(records.length - 1), changes: absurdChanges })
    await fc.assert(
      fc.asyncProperty(given, async ({ which, changes }) => {
        const { transaction, meta, version } = records[which]!
        const hashes = { blockhash: 'x', previousBlockhash: 'y' }
        const transactions = [{ transaction, meta, version }]
        const block = { ...hashes, parentSlot: 5, blockTime: 1_760_000_000, transactions }
        const answer = await nodeOf(JSON.parse(withAbsurdNumbers(block, changes))).block(
          8_589_934_591,
          signal
        )
        if (answer.kind === 'absent') {
          refused++
          t.equal(answer.why, 'unreadable')
          return
        }
        taken++
        const storage = await openEmbeddedStorage({ directory: mkdtempSync(join(directory, 'store-')) })
        try {
          const ingester = await loneIngester(storage)
          await ingester.ingest({ block: answer.block, commitment: 'confirmed', receivedAtMs: 1 })
        } finally {
          await storage.close()
        }
      }),
      randomRuns(200, 7)
    )
    t.ok(taken > 50 && refused > 50, `${taken} taken, ${refused} refused`)
  }
)

t.test('a slot that no cursor can hold is no slot of a node, and the fault names it', async (t) => {
  for (const value of [2 ** 33, 1_790_000_000_000, 2 ** 53, 1e300]) {
    const node = nodeOf(value)
    const fault = {
      message: `node: an answer that cannot be read: getSlot gave ${value}, which is not a slot from 0 to 8589934591`
    }
    await t.rejects(node.slot(signal, 1_000), fault)
    await t.rejects(node.firstAvailable(signal), { message: /getFirstAvailableBlock gave/ })
    await t.rejects(nodeOf([7, value]).slotsFrom(5, 10, signal), { message: /getBlocksWithLimit gave/ })
  }
  for (const value of [-1, 0.5, '7', null, [7], {}])
    await t.rejects(nodeOf(value).slot(signal, 1_000), NodeError, JSON.stringify(value))
  t.equal(await nodeOf(2 ** 33 - 1).slot(signal, 1_000), 2 ** 33 - 1, 'the last one is')
})

t.test('a block time in milliseconds is a gap whose reason names it, and the chain goes on', async (t) => {
  const slots = Array.from({ length: 60 }, (_, i) => i + 1)
  const chain = jsonChain(slots)
  const node = await FaultyNode.start(t, chain)
  const result = { ...chain.get(30), blockTime: 1_790_000_000_000 }
  node.inject('milliseconds', { kind: 'result', result }, at('getBlock', 30), Infinity)
  const run = new SourceRun({ urls: [node.url], tuning: { giveUpMs: 300 } })
  run.read(20)
  await run.until(() => run.slots.at(-1) === 60)
  await run.end()
  t.match(run.gaps, [
    { from: 30, to: 30, reason: 'unreadable', detail: 'blockTime 1790000000000 is above 4294967295' }
  ])
  t.equal(run.gauge('slots_given_up'), 1)
})
