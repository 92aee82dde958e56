import t from 'tap'
import { hashOfKeyBytes, hashOfKeyText } from '../../src/chain/account-hash.ts'
import { ByteKeys } from '../../src/chain/byte-keys.ts'
import { NamedVaults } from '../../src/chain/named-vaults.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { TextKeys } from '../../src/chain/rpc/account-keys.ts'
import type { AccountKeys } from '../../src/chain/transaction.ts'

const KEYS = [1, 2, 3].map((n) => new Uint8Array(32).fill(n))
const [, second, third] = KEYS
const SOURCES: readonly AccountKeys[] = [
  new ByteKeys(new Uint8Array(Buffer.concat(KEYS))),
  new TextKeys(KEYS.map((key) => pubkeyToBase58(key)))
]

t.test('vaults are the keys at their indexes, whatever form the source has', async (t) => {
  for (const keys of SOURCES) {
    t.strictSame({ ...new NamedVaults(keys, 1, 2).toJSON() }, { in: second, out: third })
    t.strictSame({ ...new NamedVaults(keys, -1, 2).toJSON() }, { in: null, out: third })
    t.throws(() => new NamedVaults(keys, 1, 3), new RangeError('no account 3'))
  }
})

t.test('vaults are known by either hash of all of them, and then no address is decoded', async (t) => {
  const known = new Set(
    [second, third].flatMap((key) => [hashOfKeyBytes(key!), hashOfKeyText(pubkeyToBase58(key!))])
  )
  for (const keys of SOURCES) {
    const undecoded: AccountKeys = {
      length: keys.length,
      hash: (index) => keys.hash(index),
      bytes: () => {
        throw new Error('an address is decoded')
      },
      lookup: () => undefined,
      isWritable: () => false,
      writableHashes: (_, from) => from
    }
    t.equal(new NamedVaults(undecoded, 1, 2).areIn(known), true)
    t.equal(new NamedVaults(undecoded, -1, 2).areIn(known), true)
    t.equal(new NamedVaults(undecoded, 0, 2).areIn(known), false)
    t.equal(new NamedVaults(undecoded, 2, 0).areIn(known), false)
  }
})
