import t from 'tap'
import type { Test } from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { withFaults } from './storage-faults.ts'
import type { StorageFault } from './storage-faults.ts'
import { sampleMint, slotAt } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades } from '../../storage/test/sample-blocks.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const mint = sampleMint(0)

async function openFaulty(t: Test, faults: readonly StorageFault[]) {
  const storage = await openEmbeddedStorage({ directory: t.testdir() })
  t.teardown(() => storage.close())
  return withFaults(storage, faults)
}

t.test('the n-th call fails without reaching the store, the others pass', async (t) => {
  const { storage, unfired } = await openFaulty(t, [
    { operation: 'blocks.commit', nth: 2, effect: { kind: 'fail' } },
    { operation: 'trades.ofMint', nth: 9, effect: { kind: 'fail' } }
  ])
  t.equal(await storage.blocks.commit(blockOfTrades(0, mint, 2)), true)
  await t.rejects(storage.blocks.commit(blockOfTrades(1, mint, 2)), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE
  })
  t.equal((await storage.blocks.head())?.slot, slotAt(0))
  t.equal(await storage.blocks.commit(blockOfTrades(1, mint, 2)), true)
  t.strictSame(
    unfired().map((fault) => fault.operation),
    ['trades.ofMint']
  )
})

t.test('a commit whose answer is lost is stored, and a second try says so', async (t) => {
  const { storage } = await openFaulty(t, [
    { operation: 'blocks.commit', nth: 1, effect: { kind: 'fail-after' } }
  ])
  await t.rejects(storage.blocks.commit(blockOfTrades(0, mint, 2)), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE
  })
  t.equal(await storage.blocks.commit(blockOfTrades(0, mint, 2)), false)
  t.equal((await storage.trades.ofMint(mint, { order: 'asc', limit: 10 })).length, 2)
})

t.test('a delayed call waits, and later calls pass it', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { storage } = await openFaulty(t, [
    { operation: 'blocks.head', nth: 1, effect: { kind: 'delay', until: gate.promise } }
  ])
  const delayed = storage.blocks.head()
  t.equal(await storage.blocks.head(), null)
  await storage.blocks.commit(blockOfTrades(0, mint, 1))
  gate.resolve()
  t.equal((await delayed)?.slot, slotAt(0))
})
