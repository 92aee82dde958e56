import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import {
  isZeroPubkey,
  pubkeyFromBase58,
  pubkeyMapKey,
  pubkeyToBase58,
  PubkeyTable,
  samePubkey
} from '../../src/chain/pubkey.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const key = fc.uint8Array({ minLength: 32, maxLength: 32 })

t.test('an address comes back from its bytes', (t) => {
  t.equal(pubkeyToBase58(pubkeyFromBase58(WSOL)), WSOL)
  t.equal(isZeroPubkey(pubkeyFromBase58('1'.repeat(32))), true)
  t.equal(isZeroPubkey(pubkeyFromBase58(WSOL)), false)
  t.end()
})

t.test('addresses that take turns at one place of the texts kept keep to their own text', (t) => {
  // Cached texts are found by the first four bytes and the last.
  const rivals = fc
    .array(fc.nat(5), { minLength: 1, maxLength: 40 })
    .map((numbers) => numbers.map((n) => Uint8Array.from({ length: 32 }, (_, i) => (i === 16 ? n : 9))))
  fc.assert(
    fc.property(rivals, (keys) => keys.every((each) => pubkeyToBase58(each) === encodeBase58(each))),
    { seed: 7 }
  )
  t.end()
})

t.test('cached texts do not keep the blocks that their addresses were views of', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heldBytes = (): number => {
    collect()
    return process.memoryUsage().arrayBuffers
  }
  const before = heldBytes()
  for (let n = 0; n < 2_000; n++) {
    const block = new Uint8Array(20_000)
    new DataView(block.buffer).setUint32(0, n, true)
    pubkeyMapKey(block.subarray(0, 32))
  }
  // As many objects of one address as are held at most.
  for (let n = 0; n < 4_096; n++) pubkeyMapKey(new Uint8Array(32))
  let heldMb = Infinity
  // A collection frees buffers in another thread.
  for (let looks = 0; heldMb >= 2 && looks < 200; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    heldMb = (heldBytes() - before) / 1e6
  }
  t.ok(heldMb < 2, `${heldMb.toFixed(1)} of 40 MB are held`)
})

t.test('a text that is not one of 32 bytes is refused', (t) => {
  for (const bad of [
    '',
    '1',
    '1'.repeat(31),
    '1'.repeat(33),
    `${WSOL}1`,
    WSOL.slice(1),
    `${WSOL.slice(1)}0`
  ]) {
    t.throws(() => pubkeyFromBase58(bad), { name: 'RangeError' }, bad)
  }
  t.end()
})

t.test('two keys have one map key exactly when they are the same', (t) => {
  fc.assert(
    fc.property(key, fc.nat(31), fc.integer({ min: 1, max: 255 }), (a, at, change) => {
      const b = Uint8Array.from(a)
      const equal = samePubkey(a, b) && pubkeyMapKey(a) === pubkeyMapKey(b)
      b[at]! ^= change
      return equal && !samePubkey(a, b) && pubkeyMapKey(a) !== pubkeyMapKey(b)
    }),
    { seed: 7 }
  )
  t.pass('no counter-example')
  t.end()
})

t.test('a table finds a value by text and by bytes alike, and nothing for another key', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(key, { minLength: 2, maxLength: 40, selector: pubkeyToBase58 }), (keys) => {
      const [absent, ...present] = keys.map(pubkeyToBase58)
      const table = new PubkeyTable(present.map((text, value) => [text, value] as const))
      return (
        present.every(
          (text, value) => table.ofText(text) === value && table.ofBytes(pubkeyFromBase58(text)) === value
        ) &&
        table.ofText(absent!) === undefined &&
        table.ofBytes(pubkeyFromBase58(absent!)) === undefined
      )
    }),
    { seed: 7 }
  )
  t.pass('no counter-example')
  t.end()
})

t.test('keys that share the bytes a table hashes are still told apart', (t) => {
  const near = [1, 2, 3].map((middle) => pubkeyToBase58(new Uint8Array(32).fill(9, 0, 4).fill(middle, 8, 9)))
  const table = new PubkeyTable(near.map((text, value) => [text, value] as const))
  t.same(
    near.map((text) => table.ofBytes(pubkeyFromBase58(text))),
    [0, 1, 2]
  )
  t.end()
})
