import assert from 'node:assert/strict'
import t from 'tap'
import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import { RECORD_NAMES } from '../../src/market/records.ts'
import { digestOf } from '../../src/market/block-digest.ts'
import { extentOf } from '../../src/market/block-extent.ts'
import {
  addDigest,
  addRows,
  isUndecoded,
  packBlock,
  unpackBlock,
  unreadBlock
} from '../../storage/codec/packed-block.ts'
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

/** A memtable of which only the slots are read, and the reads that it causes; a read fails while `isAway`. */
function unread() {
  const reads: string[] = []
  const state = { isAway: false }
  const blocks = Array.from({ length: BLOCKS }, (_, index) => {
    const block = sampleBlock(9, index)
    const bytes = packBlock(key, block)
    const slotAlone = unreadBlock(block.slot)
    return new MemtableBlock({ epoch: 1, number: index + 1 }, slotAlone, 0, async (extent) => {
      reads.push(`${extent} ${index}`)
      await Promise.resolve()
      if (state.isAway) throw new Error('the store does not answer')
      if (extent === 'digest') {
        addDigest(slotAlone, key, bytes.digest)
        return 0
      }
      addRows(slotAlone, key, bytes)
      return 1
    })
  })
  return { memtable: new Memtable(blocks), reads, state }
}

t.test('a query at an address reads the digests, and the rows of the blocks that change it', async (t) => {
  const { written } = memtables()
  const { memtable, reads } = unread()
  const changing = (address: Pubkey): number =>
    written.blocks.filter(({ block }) => digestOf(block).has(pubkeyMapKey(address))).length
  const mints = written.blocks.flatMap(({ block }) => block.trades.map(({ mint }) => mint))
  const mint = mints.find((each) => changing(each) < BLOCKS)!
  const [used, again] = await Promise.all([
    memtable.decoded(['trades'], mint),
    memtable.decoded(['trades'], mint)
  ])
  assert.deepStrictEqual(tradesOf(used, mint), tradesOf(written, mint))
  assert.deepStrictEqual(tradesOf(again, mint), tradesOf(written, mint))
  const ofRows = reads.filter((read) => read.startsWith('rows'))
  t.equal(reads.length, BLOCKS + ofRows.length)
  t.equal(new Set(reads).size, reads.length, 'two queries share a read')
  t.ok(ofRows.length > 0 && ofRows.length < BLOCKS)
  t.equal(memtable.bytes, ofRows.length)
  await memtable.decoded(['trades'], mint)
  t.equal(reads.length, BLOCKS + ofRows.length, 'what was read stays')
})

t.test('a query of any address reads all rows, and fails with the store', async (t) => {
  const { written } = memtables()
  const { memtable, reads, state } = unread()
  state.isAway = true
  await t.rejects(memtable.decoded(['log'], null), /does not answer/)
  state.isAway = false
  const used = await memtable.decoded(RECORD_NAMES, null)
  assert.deepStrictEqual(
    used.blocks.map(({ block }) => block),
    written.blocks.map(({ block }) => block)
  )
  t.ok(reads.every((read) => read.startsWith('rows')))
  t.ok(used.blocks.every(({ block }) => extentOf(block) === 'rows'))
})

t.test('a query of a launch reads only the blocks whose digests have it', async (t) => {
  const { written } = memtables()
  const launches = written.blocks.flatMap(({ block }) => block.launches)
  t.ok(launches.length > 0)
  for (const { mint } of launches) {
    const { memtable, reads } = unread()
    const used = await memtable.decoded(['launches'], mint)
    assert.deepStrictEqual(used.row('launches', mint), written.row('launches', mint))
    const ofMint = written.blocks.filter(({ block }) =>
      block.launches.some((row) => pubkeyMapKey(row.mint) === pubkeyMapKey(mint))
    )
    t.equal(reads.filter((read) => read.startsWith('rows')).length, ofMint.length)
  }
})
