import t from 'tap'
import { loadReadSet } from '../../../actors/ingest/market-loader.ts'
import type { Pubkey } from '../../../src/chain/pubkey.ts'
import { noneStored, type ReadSet } from '../../../src/market/read-set.ts'
import { READ_FIRST } from '../../../src/market/records.ts'
import type { Storage } from '../../../storage/port.ts'
import { key } from '../../market/world.ts'

t.test('records of many blocks are read some at a time, and come in their order', async (t) => {
  let [reading, most] = [0, 0]
  const get = async (address: unknown): Promise<unknown> => {
    most = Math.max(most, ++reading)
    await new Promise((resolve) => setImmediate(resolve))
    reading--
    return { of: address }
  }
  const addresses: Pubkey[] = Array.from({ length: 2_500 }, (_, number) => key(number))
  const none = Object.fromEntries(READ_FIRST.map((name) => [name, []])) as unknown as ReadSet
  const readSet = { ...none, tokens: addresses, pools: addresses.slice(0, 700) }
  const storage = Object.fromEntries(READ_FIRST.map((name) => [name, { get }])) as unknown as Storage
  const loaded = await loadReadSet(storage, readSet)
  t.equal(most, 1_000)
  t.strictSame(Object.keys(loaded), Object.keys(noneStored(none)))
  for (const name of ['tokens', 'pools'] as const)
    t.strictSame(
      loaded[name],
      readSet[name].map((address) => ({ address, row: { of: address } }))
    )
  t.strictSame(loaded.pairs, [])
})
