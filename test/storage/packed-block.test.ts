import assert from 'node:assert/strict'
import t from 'tap'
import { digestOf, type BlockDigest } from '../../src/market/block-digest.ts'
import { extentOf } from '../../src/market/block-extent.ts'
import { RECORD_NAMES, type RecordName } from '../../src/market/records.ts'
import { blockCommitKind } from '../../storage/codec/block-commit.ts'
import { addDigest, addRows, packBlock, unpackBlock, unreadBlock } from '../../storage/codec/packed-block.ts'
import { packedDigestKind } from '../../storage/codec/block-digest.ts'
import { packRecord, unpackRecord } from '../../storage/codec/record.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, emptyBlock, sampleBlock } from '../../storage/test/sample-blocks.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const key = Buffer.from('j1')
const DAMAGED = { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE }

/** Returns the records of a block that are not decoded yet. */
const undecoded = (block: BlockCommit): RecordName[] =>
  RECORD_NAMES.filter((name) => Object.getOwnPropertyDescriptor(block, name)?.get !== undefined)

const fieldsOf = ({ events, mints, others, hasLaunches, launches, hasSolPrices }: BlockDigest) => ({
  ...{ events, mints, others, hasLaunches, launches, hasSolPrices }
})

t.test('a block reads back exactly with its digest, whichever record is read first', async (t) => {
  for (let index = 0; index < 40; index++) {
    const block = sampleBlock(6, index)
    const unpacked = unpackBlock(key, packBlock(key, block))
    assert.deepStrictEqual(
      unpacked[RECORD_NAMES[index % RECORD_NAMES.length]!],
      block[RECORD_NAMES[index % RECORD_NAMES.length]!]
    )
    assert.deepStrictEqual(unpacked, block)
    assert.deepStrictEqual({ ...unpacked }, block)
  }
  for (const block of [emptyBlock(0), blockOfTrades(1, sampleMint(0), 1_000)])
    assert.deepStrictEqual(unpackBlock(key, packBlock(key, block)), block)
  t.pass()
})

t.test('the bytes of a block are those of every version', async (t) => {
  for (let index = 0; index < 20; index++) {
    const block = sampleBlock(6, index)
    assert.deepStrictEqual(unpackRecord(blockCommitKind, key, packBlock(key, block).packed), block)
  }
  t.pass()
})

t.test('a stored digest equals that of the rows, and no record is decoded for it', async (t) => {
  for (let index = 0; index < 40; index++) {
    const block = sampleBlock(6, index)
    const unpacked = unpackBlock(key, packBlock(key, block))
    t.strictSame(fieldsOf(digestOf(unpacked)), fieldsOf(digestOf(block)))
    t.strictSame(undecoded(unpacked), RECORD_NAMES)
  }
})

t.test('a stored digest finds its addresses, and no others', async (t) => {
  for (let index = 0; index < 40; index++) {
    const block = sampleBlock(6, index)
    const [stored, made] = [digestOf(unpackBlock(key, packBlock(key, block))), digestOf(block)]
    const keys = [...made.mints.map(({ mapKey }) => mapKey), ...made.others]
    for (const mapKey of keys) t.ok(stored.has(mapKey) && made.has(mapKey))
    // Bytes of two neighbours are no address.
    const between = keys.join('').slice(16, 48)
    for (const mapKey of [between, 'x'.repeat(32)]) t.equal(stored.has(mapKey), keys.includes(mapKey))
  }
})

t.test('a record is decoded at its first use, once, and no other with it', async (t) => {
  const unpacked = unpackBlock(key, packBlock(key, sampleBlock(6, 3)))
  for (const [at, name] of RECORD_NAMES.entries()) {
    const rows = unpacked[name]
    t.equal(unpacked[name], rows, 'the same rows each time')
    t.strictSame(undecoded(unpacked), RECORD_NAMES.slice(at + 1))
  }
})

t.test('without a digest, or with one that cannot be read, a block is decoded as a whole', async (t) => {
  const block = sampleBlock(6, 5)
  const { packed, digest } = packBlock(key, block)
  const unknown = Buffer.from(digest)
  unknown[0] = 77
  for (const stored of [null, unknown, digest.subarray(0, 9), Buffer.alloc(0)]) {
    const unpacked = unpackBlock(key, { packed, digest: stored })
    t.strictSame(undecoded(unpacked), [])
    assert.deepStrictEqual(unpacked, block)
    t.strictSame(fieldsOf(digestOf(unpacked)), fieldsOf(digestOf(block)))
  }
})

t.test('a packed block with any byte changed is refused at once', async (t) => {
  const { packed, digest } = packBlock(key, sampleBlock(6, 4))
  for (let at = 1; at < packed.length; at += 97) {
    const damaged = Buffer.from(packed)
    damaged[at]! ^= 1
    assert.throws(() => unpackBlock(key, { packed: damaged, digest }), DAMAGED)
  }
  t.throws(() => unpackBlock(Buffer.from('j2'), { packed, digest }), DAMAGED, 'so is one of another number')
})

t.test('of a block that is read by its slot alone, the digest and then the rows can be added', async (t) => {
  for (let index = 0; index < 20; index++) {
    const block = sampleBlock(6, index)
    const bytes = packBlock(key, block)
    const read = unreadBlock(block.slot)
    t.equal(extentOf(read), 'slot')
    t.throws(() => read.trades, /the trades of block \d+ were not read/)
    t.throws(() => digestOf(read), /were not read/, 'nor is a digest made of rows that are not there')
    if (index % 2 === 0) {
      t.ok(addDigest(read, key, bytes.digest))
      t.equal(extentOf(read), 'digest')
      t.strictSame(fieldsOf(digestOf(read)), fieldsOf(digestOf(block)))
      t.throws(() => read.log, /were not read/)
    }
    addRows(read, key, bytes)
    t.equal(extentOf(read), 'rows')
    t.strictSame(undecoded(read), RECORD_NAMES, 'a record is decoded at its first use')
    const { trades } = read
    addRows(read, key, bytes)
    t.equal(read.trades, trades, 'rows that were read stay')
    assert.deepStrictEqual(read, block)
    t.strictSame(fieldsOf(digestOf(read)), fieldsOf(digestOf(block)))
  }
})

t.test('a digest of an earlier version lacks launches, and one of another version is refused', async (t) => {
  const index = Array.from({ length: 40 }, (_, at) => at).find(
    (at) => sampleBlock(6, at).launches.length > 0
  )!
  const block = sampleBlock(6, index)
  const { packed, digest } = packBlock(key, block)
  const earlier = unreadBlock(block.slot)
  t.ok(addDigest(earlier, key, withoutLaunches(block)))
  t.match(digestOf(earlier), { hasLaunches: true, launches: null })
  const unknown = Buffer.from(digest)
  unknown[0] = 77
  const other = unreadBlock(block.slot)
  t.notOk(addDigest(other, key, unknown))
  t.equal(extentOf(other), 'slot')
  addRows(other, key, { packed, digest: unknown })
  t.strictSame(fieldsOf(digestOf(other)), fieldsOf(digestOf(block)))
})

/** The digest of a block as versions stored it that had no launches in it. */
function withoutLaunches(block: BlockCommit): Buffer {
  const digest = { ...digestOf(block), launches: null }
  return Buffer.from(packRecord(packedDigestKind, key, { places: [], digest }))
}
