import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { NewestOfLog, packBlock, unpackBlock, type LoggedBlock } from '../../src/holders/list-log.ts'
import { ListOverlay } from '../../src/holders/list-overlay.ts'
import { randomRuns } from '../random-runs.ts'

const address = (n: number): Pubkey => new Uint8Array(32).fill(200).fill(n, 30)

/** A record with the prototype of a literal, as what is read has. */
const plain = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>

const anyBlock: fc.Arbitrary<Omit<LoggedBlock, 'slot'>> = plain({
  accounts: fc.uniqueArray(
    plain({
      account: fc.nat(6).map(address),
      balance: fc.option(
        plain({ owner: fc.nat(3).map(address), amount: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }) })
      )
    }),
    { selector: ({ account }) => account[31], maxLength: 5 }
  ),
  owners: fc.uniqueArray(
    plain({
      owner: fc.nat(3).map(address),
      balance: fc.option(
        plain({ amount: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), accounts: fc.integer({ min: 1 }) })
      )
    }),
    { selector: ({ owner }) => owner[31], maxLength: 3 }
  ),
  sums: plain({
    owners: fc.nat(),
    accounts: fc.nat(),
    held: fc.bigInt({ min: 0n, max: 2n ** 100n }),
    squares: fc.bigInt({ min: 0n, max: 2n ** 127n })
  })
})

t.test('packed blocks of a log, read again, are the blocks', (t) => {
  fc.assert(
    fc.property(anyBlock, (block) => {
      assert.deepStrictEqual(unpackBlock(7, new Uint8Array(packBlock({ slot: 7, ...block }))), {
        slot: 7,
        ...block
      })
    }),
    randomRuns(200)
  )
  t.end()
})

t.test('the newest values of a log are those of all its blocks, applied one after another', (t) => {
  fc.assert(
    fc.property(fc.array(anyBlock, { maxLength: 6 }), (blocks) => {
      const newest = new NewestOfLog()
      const overlay = new ListOverlay()
      for (const [slot, block] of blocks.entries()) {
        overlay.apply({ slot, ...block })
        newest.add(slot, new Uint8Array(packBlock({ slot, ...block })))
      }
      assert.deepStrictEqual(newest.accounts, overlay.accounts)
      assert.deepStrictEqual(newest.owners, overlay.owners)
      assert.deepStrictEqual(newest.sums, overlay.sums)
    }),
    randomRuns(200)
  )
  t.end()
})
