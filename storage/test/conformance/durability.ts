import type { Test } from 'tap'
import { StorageModel } from '../model.ts'
import { storedKeys, putKey, putTenant, storedTenants, sampleKey, sampleTenant } from '../sample-access.ts'
import { sampleMint } from '../sample-addresses.ts'
import { blockOfTrades, sampleBlock } from '../sample-blocks.ts'
import { ALL } from '../under-test.ts'
import type { OpenForTest } from '../under-test.ts'
import { assertSame } from './agreement.ts'
import { ERRORS } from '../../../src/kernel/errors.ts'

const [mint, other] = [sampleMint(0), sampleMint(1)]

export async function testDurability(t: Test, open: OpenForTest): Promise<void> {
  t.test('a store opened again answers as the one that was closed', async (t) => {
    const under = await open(t)
    const model = new StorageModel()
    for (let index = 0; index < 40; index++) {
      model.commit(sampleBlock(3, index))
      await under.storage.blocks.commit(sampleBlock(3, index))
    }
    await putKey(under.storage, sampleKey(1))
    await putTenant(under.storage, sampleTenant(1))
    const storage = await under.reopen()
    await assertSame(storage, model)
    t.strictSame(await storedKeys(storage), [sampleKey(1)])
    t.strictSame(await storedTenants(storage), [sampleTenant(1)])
    t.equal(await storage.blocks.commit(sampleBlock(3, 39)), false)
    t.equal(await storage.blocks.commit(sampleBlock(3, 40)), true)
  })

  t.test('closing waits for the commits that were accepted, and refuses later ones', async (t) => {
    const under = await open(t)
    const commits = [0, 1, 2].map((index) => under.storage.blocks.commit(blockOfTrades(index, mint, 40)))
    const closing = under.storage.close()
    await t.rejects(under.storage.blocks.commit(blockOfTrades(3, mint, 1)), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE
    })
    await t.rejects(under.storage.trades.ofMint(mint, ALL), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE
    })
    t.strictSame(await Promise.all(commits), [true, true, true])
    await closing
    const storage = await under.reopen()
    t.equal((await storage.trades.ofMint(mint, ALL)).length, 120)
  })

  t.test('a damaged record is an error that names it, and never wrong rows', async (t) => {
    const under = await open(t)
    if (under.damageTrades === undefined) return t.pass('this adapter leaves damage to its server')
    await under.storage.blocks.commit(blockOfTrades(0, mint, 100))
    await under.storage.blocks.commit(blockOfTrades(1, other, 5))
    const storage = await under.damageTrades(mint)
    for (const order of ['asc', 'desc'] as const)
      await t.rejects(storage.trades.ofMint(mint, { order, limit: 100 }), {
        name: 'ServiceError',
        kind: ERRORS.STORAGE_UNAVAILABLE,
        detail: /trade page 74[0-9a-f]+ is damaged/
      })
    t.equal((await storage.trades.ofMint(other, ALL)).length, 5, 'other records are as they were')
    await t.rejects(storage.blocks.commit(blockOfTrades(2, mint, 1)), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE
    })
    t.equal(await storage.blocks.commit(blockOfTrades(2, other, 1)), true, 'what does not touch it goes on')
  })
}
