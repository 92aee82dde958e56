import type { Test } from 'tap'
import type { StorageUsage } from '../../port.ts'
import { sampleBlock } from '../sample-blocks.ts'
import type { OpenForTest } from '../under-test.ts'

const ROWS = ['trades by mint', 'trades by wallet', 'pool events']

const bytesOf = ({ kinds }: StorageUsage, name: string): number | undefined =>
  kinds.find(({ kind }) => kind === name)?.bytes

export async function testUsage(t: Test, open: OpenForTest): Promise<void> {
  t.test('of an empty store each kind of rows is told once, and has no rows', async (t) => {
    const { storage } = await open(t)
    const usage = await storage.usage()
    const names = usage.kinds.map(({ kind }) => kind)
    t.equal(new Set(names).size, names.length)
    for (const name of ['candles', 'blocks', ...ROWS]) t.equal(bytesOf(usage, name), 0, name)
    for (const { kind, stays } of usage.kinds)
      t.match(stays, /^(always|needed)$/, `${kind}: there is no retention`)
    t.ok(usage.freeBytes === null || usage.freeBytes > 0)
  })

  t.test('the bytes of a kind grow with its rows', async (t) => {
    const under = await open(t)
    for (let index = 0; index < 100; index++) await under.storage.blocks.commit(sampleBlock(9, index))
    const usage = await under.counted(ROWS)
    for (const name of ROWS) t.ok(bytesOf(usage, name)! > 5_000, `${name}: ${bytesOf(usage, name)} bytes`)
  })
}
