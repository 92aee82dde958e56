import assert from 'node:assert/strict'
import t from 'tap'
import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import { RECORD_NAMES } from '../../src/market/records.ts'
import { isUndecoded, packBlock, unpackBlock } from '../../storage/codec/packed-block.ts'
import { Memtable, MemtableBlock } from '../../storage/scylla/memtable.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'

const key = Buffer.from('j1')
const BLOCKS = 30

/** Blocks as another process has them, and as their writer has them. */
function memtables(): { readonly followed: Memtable; readonly written: Memtable } {
  const blocks = Array.from({ length: BLOCKS }, (_, index) => sampleBlock(9, index))
  const version = (number: number) => ({ epoch: 1, number })
  return {
    followed: new Memtable(
      blocks.map(
        (block, at) => new MemtableBlock(version(at + 1), unpackBlock(key, packBlock(key, block)), 1)
      )
    ),
    written: new Memtable(blocks.map((block, at) => new MemtableBlock(version(at + 1), block, 1)))
  }
}

const tradesOf = (memtable: Memtable, mint: Pubkey) =>
  memtable.all((block) => block.tradesOfMint().get(pubkeyMapKey(mint)))

t.test(
  'a query at an address finds the rows that the writer has, and decodes the blocks that change it',
  async (t) => {
    const { written } = memtables()
    const mints = new Map(
      written.blocks.flatMap(({ block }) =>
        block.trades.map(({ mint }) => [pubkeyMapKey(mint), mint] as const)
      )
    )
    let untouched = 0
    for (const mint of mints.values()) {
      const { followed } = memtables()
      const used = await followed.decoded(['trades'], mint)
      assert.deepStrictEqual(tradesOf(used, mint), tradesOf(written, mint))
      for (const [at, { block }] of followed.blocks.entries()) {
        const isTraded = written.blocks[at]!.block.trades.some(
          (row) => pubkeyMapKey(row.mint) === pubkeyMapKey(mint)
        )
        if (isTraded) t.notOk(isUndecoded(block, ['trades']))
        else if (isUndecoded(block, ['trades'])) untouched++
        t.ok(isUndecoded(block, ['candles']), 'no other record is decoded')
      }
    }
    t.ok(untouched > 0, 'some blocks were left as they are')
  }
)

t.test('a query of any address decodes its records of all blocks, and a later one nothing', async (t) => {
  const { followed } = memtables()
  t.equal(await followed.decoded(['log', 'tokens'], null), followed)
  for (const { block } of followed.blocks) {
    t.notOk(isUndecoded(block, ['log', 'tokens']))
    t.ok(isUndecoded(block, ['trades']))
  }
  t.equal(await followed.decoded(RECORD_NAMES, null), followed)
  t.equal(await followed.decoded(['trades'], new Uint8Array(32)), followed)
})

t.test('the memtable of a writer is used as it is', async (t) => {
  const { written } = memtables()
  t.equal(await written.decoded(['trades'], new Uint8Array(32)), written)
})
