import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { NodeError, RPC_CODE, type NodeFault } from '../../src/node/node-fault.ts'
import { jobOf } from '../../src/revenue/backfill-jobs.ts'
import { gapBeforeLive, historyGaps } from '../../src/revenue/history-gaps.ts'
import type { HistoryNode } from '../../src/revenue/history-node.ts'
import { statusOf } from '../../src/revenue/bodies/revenue-history.ts'
import { DyingStorage } from '../followers/dying-storage.ts'
import { IS_LONG } from '../random-runs.ts'
import { until } from '../service/asking.ts'
import {
  changesOf,
  jobIn,
  nodeOf,
  placed,
  startBackfill,
  TENANT,
  watchSince,
  whole
} from './history-world.ts'
import { sumsEqual } from './ledger-shape.ts'
import { LedgerWorld } from './ledger-world.ts'

const KILLS = IS_LONG ? 60 : 6

/** Checks that a ledger has every row since the first block, and the sums of them. */
async function isWhole(t: Test, world: LedgerWorld, address: string, tenant = TENANT): Promise<void> {
  await world.settled('at the end')
  const watched = (await world.watched(tenant)).find((each) => each.address === address)!
  const rows = await world.rowsOf([watched])
  t.strictSame(rows.map(placed), changesOf(world.bank, address, 0, world.bank.slot('processed')))
  await sumsEqual(t, world, watched, rows, address)
  t.strictSame(historyGaps(watched, await jobIn(world.storage, address, tenant)), [])
}

const fault = (of: NodeFault): NodeError => new NodeError('node', of)

t.test(
  'a history is the same after a kill before or after any write, and with pages of any length',
  async (t) => {
    const world = await LedgerWorld.open(t, 41)
    await world.slots(60)
    const { node } = await nodeOf(t, world.bank)
    const [address] = world.wallets as [string]
    await watchSince(world, address)
    await world.settled('begun')
    const short = (length: number): HistoryNode => ({
      ...bound(node),
      signatures: async (account, before, signal) =>
        (await node.signatures(account, before, signal))?.slice(0, length) ?? null
    })
    for (let kill = 0; kill < KILLS; kill++) {
      const dying = new DyingStorage()
      const storage = { ...world.storage, ...dying.of(world.storage) }
      dying.dieAtWrite(1 + world.choices.below(60), kill % 2 === 0 ? 'before' : 'after')
      const running = startBackfill(short(1 + world.choices.below(40)), storage)
      await until(async () => {
        await world.slots(1)
        const [watched] = await world.watched()
        const job = jobOf(watched!, await jobIn(world.storage, address))
        return dying.isDead || job?.phase === 'done'
      }, 'a death')
      await running.stop()
    }
    const running = startBackfill(short(7), world.storage)
    t.teardown(() => running.stop())
    await whole(world, [address])
    await isWhole(t, world, address)
  }
)

t.test(
  'requests that a node refuses for their rate, or fails, are repeated until all are answered',
  async (t) => {
    const world = await LedgerWorld.open(t, 42)
    await world.slots(50)
    const { node } = await nodeOf(t, world.bank)
    const faults: readonly NodeFault[] = [
      { kind: 'throttled', restMs: 1_000 },
      { kind: 'timeout', afterMs: 1_000 },
      { kind: 'rpc', code: RPC_CODE.rateLimited, message: 'slow down' },
      { kind: 'http', status: 502 }
    ]
    let refused = 0
    const failing = failingNode(node, () => {
      if (world.choices.chance(0.6)) return
      refused++
      throw fault(world.choices.of(faults))
    })
    const [address] = world.wallets as [string]
    await watchSince(world, address)
    await world.settled('begun')
    const running = startBackfill(failing, world.storage)
    t.teardown(() => running.stop())
    await whole(world, [address])
    await isWhole(t, world, address)
    t.ok(refused > 20, `${refused} refused`)
  }
)

t.test('while a node fails, the progress says why, and nothing is lost', async (t) => {
  const world = await LedgerWorld.open(t, 43)
  await world.slots(40)
  const { node } = await nodeOf(t, world.bank)
  let isDown = true
  const failing = failingNode(node, () => {
    if (isDown) throw fault({ kind: 'throttled', restMs: 1 })
  })
  const [address] = world.wallets as [string]
  await watchSince(world, address)
  await world.settled('begun')
  const running = startBackfill(failing, world.storage)
  t.teardown(() => running.stop())
  await until(async () => {
    await delay(10)
    return (await jobIn(world.storage, address))?.note != null
  }, 'a note')
  const [watched] = await world.watched()
  const job = await jobIn(world.storage, address)
  t.match(job, { note: 'the archive node limits the rate of requests', phase: 'starting' })
  t.equal(statusOf(watched!, job), 'backfilling')
  isDown = false
  await whole(world, [address])
  await isWhole(t, world, address)
  t.match(await jobIn(world.storage, address), { note: null })
})

t.test('a node without old history leaves a gap, and the ledger stays incomplete', async (t) => {
  const world = await LedgerWorld.open(t, 44)
  await world.slots(60)
  const { node } = await nodeOf(t, world.bank)
  let first = 40
  const pruned: HistoryNode = {
    ...bound(node),
    firstSlot: async () => first,
    signatures: async (account, before, signal) =>
      (await node.signatures(account, before, signal))?.filter(({ slot }) => slot >= first) ?? null
  }
  const [address] = world.wallets as [string]
  await watchSince(world, address)
  await world.settled('begun')
  const running = startBackfill(pruned, world.storage)
  t.teardown(() => running.stop())
  await whole(world, [address])
  const [watched] = await world.watched()
  const job = await jobIn(world.storage, address)
  t.match(historyGaps(watched!, job), [{ from: 0, to: 39, reason: 'upstream_missing' }])
  t.equal(gapBeforeLive(watched!, job), null, 'the archive reaches the live rows')
  t.match(watched!.history!.archived, [{ from: 40, to: watched!.captureFrom!.slot - 1 }])
  await world.settled('at the end')
  const rows = await world.rowsOf([watched!])
  t.strictSame(rows.map(placed), changesOf(world.bank, address, 40, world.bank.slot('processed')))

  // Another node has it all.
  first = 0
  await watchSince(world, address)
  running.backfill.hint()
  await whole(world, [address])
  await isWhole(t, world, address)
})

t.test('a node without any history leaves all of it a gap', async (t) => {
  const world = await LedgerWorld.open(t, 45)
  await world.slots(40)
  const { node } = await nodeOf(t, world.bank)
  const without = failingNode(node, (method) => {
    if (method === 'signatures' || method === 'transaction')
      throw fault({ kind: 'rpc', code: RPC_CODE.transactionHistoryNotAvailable, message: 'no history' })
  })
  const [address] = world.wallets as [string]
  await watchSince(world, address)
  await world.settled('begun')
  const running = startBackfill(without, world.storage)
  t.teardown(() => running.stop())
  await whole(world, [address])
  const [watched] = await world.watched()
  const job = await jobIn(world.storage, address)
  const to = watched!.captureFrom!.slot - 1
  t.match(historyGaps(watched!, job), [{ from: 0, to, reason: 'upstream_missing' }])
  t.match(gapBeforeLive(watched!, job), { from: 0, to })
  t.strictSame(watched!.history!.archived, [])
})

t.test('transactions that a node lists and does not have are a gap', async (t) => {
  const world = await LedgerWorld.open(t, 46)
  await world.slots(60)
  const { node } = await nodeOf(t, world.bank)
  const [address] = world.wallets as [string]
  const lost = changesOf(world.bank, address, 30, 60)[0]!
  const losing: HistoryNode = {
    ...bound(node),
    transaction: async (listed, signal) =>
      listed.signature === lost.signature ? { kind: 'absent' } : node.transaction(listed, signal)
  }
  await watchSince(world, address)
  await world.settled('begun')
  const running = startBackfill(losing, world.storage)
  t.teardown(() => running.stop())
  await until(async () => {
    await world.slots(1)
    return (await jobIn(world.storage, address))?.check != null
  }, 'a comparison')
  const [watched] = await world.watched()
  const job = await jobIn(world.storage, address)
  t.match(historyGaps(watched!, job), [{ from: lost.slot, to: lost.slot, reason: 'upstream_missing' }])
  t.match(job, { phase: 'checking', unread: { from: lost.slot, to: lost.slot } })
  t.ok(job!.check!.count > 0, 'the sums differ from the chain')
  t.equal(statusOf(watched!, job), 'active', 'there is nothing more to read')
})

t.test('a tenant with many addresses does not delay that of another tenant', async (t) => {
  const world = await LedgerWorld.open(t, 47)
  await world.slots(110)
  const { node } = await nodeOf(t, world.bank)
  const [modest, ...many] = world.wallets.toReversed() as [string, ...string[]]
  for (const address of many) await watchSince(world, address, undefined, 'greedy')
  await watchSince(world, modest, undefined, 'modest')
  await world.settled('begun')
  await until(async () => {
    await world.slots(1)
    const all = [...(await world.watched('greedy')), ...(await world.watched('modest'))]
    return all.every(({ captureFrom }) => captureFrom !== null)
  }, 'all begun')
  await world.slots(40)
  const running = startBackfill(node, world.storage)
  t.teardown(() => running.stop())
  const read = async (tenant: string, addresses: readonly string[]): Promise<number> => {
    const jobs = await Promise.all(addresses.map((address) => jobIn(world.storage, address, tenant)))
    return jobs.reduce((sum, job) => sum + (job?.signatures ?? 0), 0)
  }
  await until(async () => {
    const job = await jobIn(world.storage, modest, 'modest')
    return job !== null && job.phase !== 'starting' && job.phase !== 'reading'
  }, 'the modest tenant is done')
  const [own, others] = [await read('modest', [modest]), await read('greedy', many)]
  t.comment(`${own} signatures of one, ${others} of the other`)
  t.ok(own > 64, 'it takes several steps')
  await whole(world, many, 'greedy')
  const all = await read('greedy', many)
  t.ok(all > 3 * own, `${all} signatures in the end`)
  t.ok(others < own + (all - own) / 2, `${others} of ${all} had been read`)
  await isWhole(t, world, modest, 'modest')
})

/** Returns the methods of a node as functions. */
function bound(node: HistoryNode): HistoryNode {
  return failingNode(node, () => undefined)
}

/** Returns a node whose calls fail as `check` throws. */
function failingNode(node: HistoryNode, check: (method: keyof HistoryNode) => void): HistoryNode {
  const call = <Name extends keyof HistoryNode>(name: Name): HistoryNode[Name] =>
    (async (...args: never[]) => {
      check(name)
      return (node[name] as (...given: never[]) => unknown)(...args)
    }) as unknown as HistoryNode[Name]
  return {
    finalizedSlot: call('finalizedSlot'),
    firstSlot: call('firstSlot'),
    blockFrom: call('blockFrom'),
    signatures: call('signatures'),
    transaction: call('transaction'),
    tokenAccounts: call('tokenAccounts'),
    balances: call('balances')
  }
}
