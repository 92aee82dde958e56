import assert from 'node:assert/strict'
import t from 'tap'
import { blockCommitKind } from '../../storage/codec/block-commit.ts'
import { slotFieldsKind, slotKind } from '../../storage/codec/kinds.ts'
import { packRecord, unpackRecord } from '../../storage/codec/record.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, emptyBlock, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const key = Buffer.from('j1')

t.test('a block that was packed reads back exactly, with all its lists in their order', async (t) => {
  let [candles, launches, poolEvents] = [0, 0, 0]
  for (let index = 0; index < 40; index++) {
    const block = sampleBlock(6, index)
    candles += block.candles.length
    launches += block.launches.length
    poolEvents += block.poolEvents.length
    const packed = packRecord(blockCommitKind, key, block).slice()
    assert.deepStrictEqual(unpackRecord(blockCommitKind, key, packed), block)
  }
  t.ok(candles > 100 && launches > 10 && poolEvents > 10, 'there was something of each')
})

t.test('an empty block, and one of a thousand rows, read back exactly', async (t) => {
  for (const block of [emptyBlock(0), blockOfTrades(1, sampleMint(0), 1_000)]) {
    const packed = packRecord(blockCommitKind, key, block).slice()
    assert.deepStrictEqual(unpackRecord(blockCommitKind, key, packed), block)
  }
  t.pass()
})

t.test('a packed block with any byte changed is refused', async (t) => {
  const packed = Buffer.from(packRecord(blockCommitKind, key, sampleBlock(6, 4)))
  for (let at = 1; at < packed.length; at += 97) {
    const damaged = Buffer.from(packed)
    damaged[at]! ^= 1
    assert.throws(() => unpackRecord(blockCommitKind, key, damaged), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE
    })
  }
  t.pass()
})

t.test(
  'a slot keeps its block hash, and one stored before hashes were kept reads as of no known hash',
  async (t) => {
    const { slot } = blockOfTrades(1, sampleMint(0), 1)
    const hashed = { ...slot, blockhash: '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM' }
    const packed = packRecord(slotKind, key, hashed).slice()
    t.strictSame(unpackRecord(slotKind, key, packed), hashed)
    const old = packRecord(slotFieldsKind, key, hashed).slice()
    t.strictSame(unpackRecord(slotKind, key, old), { ...slot, blockhash: null })
    const block = { ...blockOfTrades(1, sampleMint(0), 3), slot: { ...slot, blockhash: null } }
    const unhashed = packRecord(blockCommitKind, key, block).slice()
    t.strictSame(unpackRecord(blockCommitKind, key, unhashed), block, 'so does a block of a journal')
  }
)
