import fc from 'fast-check'
import t from 'tap'
import { ByteKeys } from './byte-keys.ts'
import { PubkeyTable, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { TextKeys } from '../../src/chain/rpc/account-keys.ts'

const keyLists = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { maxLength: 20 })

t.test('keys in bytes answer as the same keys in text do', async () => {
  fc.assert(
    fc.property(keyLists, fc.nat(), (list, pick) => {
      const binary = new ByteKeys(Uint8Array.from(list.flatMap((key) => [...key])))
      const text = new TextKeys(list.map(pubkeyToBase58))
      if (binary.length !== list.length) return false
      if (list.length === 0) return true
      const table = new PubkeyTable([[pubkeyToBase58(list[pick % list.length]!), 'known']])
      return list.every(
        (key, index) =>
          binary.bytes(index).toHex() === key.toHex() &&
          binary.lookup(index, table) === text.lookup(index, table)
      )
    }),
    { seed: 7 }
  )
})

t.test('a key is a view of the given bytes, the same at every call', async (t) => {
  const bytes = new Uint8Array(64).fill(9, 32)
  const keys = new ByteKeys(bytes)
  t.equal(keys.bytes(1).buffer, bytes.buffer)
  t.equal(keys.bytes(1), keys.bytes(1))
})

t.test('an index outside the list and bytes that are no list are refused', async (t) => {
  const keys = new ByteKeys(new Uint8Array(64))
  for (const index of [-1, 2, Number.NaN]) {
    t.throws(() => keys.bytes(index), RangeError)
    t.throws(() => keys.lookup(index, new PubkeyTable<string>([])), RangeError)
  }
  t.throws(() => new ByteKeys(new Uint8Array(33)), RangeError)
})
