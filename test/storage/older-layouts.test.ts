import assert from 'node:assert/strict'
import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import t from 'tap'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import { EMPTY_START, MarketState } from '../../src/market/market-state.ts'
import { noneStored } from '../../src/market/read-set.ts'
import type { CurveRow, TokenRow } from '../../src/market/registry-rows.ts'
import { READ_FIRST, type ReadName } from '../../src/market/records.ts'
import { activityKind } from '../../storage/codec/activity.ts'
import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'
import { KeyTable } from '../../storage/codec/key-table.ts'
import { keptBlockKind } from '../../storage/codec/kept-block.ts'
import { activityKey, addressKey, keptBlockKey } from '../../storage/codec/keys.ts'
import { curveKind } from '../../storage/codec/curve.ts'
import { poolEventCodec } from '../../storage/codec/pool-event.ts'
import { poolKind } from '../../storage/codec/pool.ts'
import { packRecord, unpackRecord, type RecordKind } from '../../storage/codec/record.ts'
import { tokenKind } from '../../storage/codec/token.ts'
import { ingestAll } from '../market/memory-store.ts'
import { block, buy, curve, key, launch, liquidity, NOON, OPTIONS, POOL, solSale } from '../market/world.ts'

/** Bytes written by the version that stored no price-forming price of pools and no provider's side of liquidity. */
const OLDER = {
  pool: '01bfee63200ac8000000070707070707070707070707070707070707070707070707070707070100000007070707070707070707070707070707070707070707070707070707030000000707070707070707070707070707070707070707070707070707070700070a0000010000000000003940000703018780400180c49fd50c010000000000108940010000000000c06240',
  token: '01cddb8fa0070780c49fd50c030101000000000000f83f00',
  hour: '01a30dffe601000000000000f43f000007010100010505000302000000000000f83f00000000000004403c00010100010505000302',
  event:
    '8780400080c49fd50c0009090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909000200050100c800000007070707070707070707070707070707070707070707070707070707016400000007070707070707070707070707070707070707070707070707070707022c010000070707070707070707070707070707070707070707070707070707070200050001020002010103010000000707070707070707070707070707070707070707070707070707070700070064000001040500000007070707070707070707070707070707070707070707070707070707'
}
/** A kept block as a store has it: read first are lists under their own names. */
const KEPT =
  'KLUv/WBlJR0+AIpOLBBG8Ng0B9DaGjoeb1k+C7YYJ3SHw0c5BfX8y46Vt9+2VMYWeYRka51EaNbwjV4oAGV51CirGXPU9Et8LHT2xsuSbdtLtjeRAe0A8ADwAKRrNe+2iTkXfXqspA1/w7VbtU0M8srKDhw3FqociEIByZMIRgx0CGGgtsiI8YMLihk6MpkKZ18L4tpsgTYv977899rOLwsSZSqcEePyokpkKhyy5hPOJcjLqqNL0iw1f/N+CvMXa96Yi9eyuBzv+6nHHERpZUOmwsnPU0f8mzSn386L99vZIKfZqML5bO56T1aHHF8k/Tbv+yB/+fTFdodV35p35+KT2ZouDkO+75PbkiQON8/g4lNhQ5YeGkKD2CTxU/bDz517KF1Rm4l9P9dyc9ITHp2NEaUhnrQ2Ie++jUd9OWYR4jEHcxygS6aQf84wm1h3PrI0hKjNz4c2lxjd5rVk5ljUNyPWmXtifdTl+DM2fU7m2nnRmet8Ob167dYvciO0fi77xJwez1iWps5EzS/WKxrcfKI5Zdzgx5KsO09DU0GXe6MQuM3mx0OU8PDxEeeQPDrza2v2gPmT9V6ugZ/KZsgAg3zb2GwRcg58XXM0D4EauOvnMHNUeM06ZpfFVTlCqwoaDh+rxwsqUrA0OUKFSJCaveTHiit/oQIQKEWuuNCSZAND4INWdQo4vd8mzph7O6w7j7mnP5Vff9ac0hlK0v+myxRxv6zRABlG28Qht5CDCYVJsa+JyWJNB2FD1Via9yCr+VwTQAlghA87t9P6NI+Zc2UoXTVsNpxPELWZuQRQp5YI+XWO7MiO7Mhe52s8hpgOHj+ok0VdjsHK/RKncOYAfExZ0vPpbTlZY/lYU/n3xtEPpuofxWvRGQxWRraqqqoTiTbR9jlBp3begByDFQ3E6EayyVhnM8wcb13HS3zRHMOd1/yrSPtmLup0cP74BqJ0DS/nyMuxRdLZ1hJzrN8cayrz7KQ1XrQQ4hWptApH50+/dp/FhwJOZFCYFKK+wTm0IJ40R5x68evDeqwb78yvs6Iz1ql3xiVZRw1XJJ25zbUVpYHEOdZ5naATozMVDZBa1HIQY1Er06hFrW2zqJVlbHOpBTg190R9c7/EIKdcx2PmcGLm1sezrWjNFnZ8jbn2aVAK5Nk2pV1+dTDm+1nkSmZuwpZjjKSziVGY6Lzx/a6mWPMppALM2PNI7D/lujmnJz5dK16cQ2Zs2nUsNedS1QyvE4k2BzFnjDXCOunm6TLDvynb3NujWU+EXATAu8472A+cbyDmHKiBNdUM0baB/DoVgDYhjIZ6Pg1bZ2vivMMMnOJrc9etsyF06z9di/X02PgyGJhRAgRf6Ssd+EpfyQCBr/SVBnylryTaRPQrkaINRuclSo+BpagBVWZGRERERBQkSZIOcQWEKIOMc4weEgCiJMeSIIRBShlDDCFEYASEGEPIiMjIzAxNG4CBMJcPIzIXKSHEeKBkyuyRenhgxYs2YxvWKMhgUF+AkAsmy4daPeDQeDJSDw/A4ra+gRV+mACxCyC7JhZ1zIXgkkl7PCAZeqAWlTkRQyCBDbQaKbBpkJrAkYMvsbZFBhJo4cWNWlxVgtFaL8T6mE2iJ8NFrSMHh5RgopeJ2cWXpzq0JQ0WHYmyvuyzs4DyTxANcYJMS3WL/RVg9UhKxsJID8E1fxwUJQ0YU+aF7VJvXUPkwqOFBmmcfks/Iv7QOyuTEJ53jvcUjSAX35BRBPOxgGxlu+qt6CwJmue2gp4rLMmbliZICJSY4UeTCKIjKahqgnBT31xvHiyO2uYSJlvgGR2IHlGcEQCZrqEE3ii2isAtfJuauP8p6z+S13Mo1EgqIB8LruEHIC+eF3czG2nB/BXQFkILmgwCf6dR1oI8o55qLDg7a9Qz3owLqCR9BqTDmcJDKVJoZmHOVEKCGxHmoPktVRRTbOl3raGJEzeFQY0pWibDyT5H2bpDTZMtax3ImLaokAd9ztC27mpI/I54QJGMA0kZTVEcHH+y5wBKdgNDF2EyxAIZipIwUHVC/V2siCdr+1IclsXLcKjjH8I5f+gN9joHxC41Jo7T9zRAFsDvOE/TK7JrNHMFBmy8fbLKaIAaIKyYU1/2gkAf8xot1CCDj513qQ+E9MEMG2+f2bIaApPTSIl6n25OBRq2mcTq/JSQ5KWgCKszDxAt2AOoWqTh1icrpIWzCTJuGfSQls5KdNy2wEij/QbW5RgQ2wE4Ne3clhZArgAAMp8VNKijHnga3qWPOzfJsR13R/rJYaGro4L0/8VBe4HuCGjpEgbft4H12eRDpp0d4mf8xUI1awRN+hMWM7pU7a0Q4c29dJsuHH48zhQNyJxQe7iI8wM8WO5Yvsq1YXQSgVOHjgrlRhEz5ADDQT6/3Nu59gQU8vAURntwS81ajs4uvHD14lq+TpQ0BZoVgBnpb5SAA9InaKW+NmVQtRqkY6x4BiULxn1/alOSx64duC2eS+DjFlgwgclAvGxnxzDbua/RNYEAQcNr7/uhnWMDXUxJVQEHqGxMRWF3VS5EQoNoOgiMUSzogNU5joNNUDUK7fvJ0gV0WbjQAhFuwPH7A5DOa83OoeBk7WCWHEJJxNt1lnzvebrFii0juEYOQmBbBsNeAlHVT+1o0m9YmRjK73SsCRo='
const KEPT_RECORDS: readonly ReadName[] = [
  'pairs',
  'candles',
  'launches',
  'tokens',
  'pools',
  'curves',
  'activity'
]
const HOUR = 1_700_000_400 - (1_700_000_400 % 3_600)

t.test('a pool of an older store has its newest trade, and no price that may not count', async (t) => {
  const row = unpackRecord(poolKind, addressKey('q', POOL), Buffer.from(OLDER.pool, 'hex'))
  t.match(row, { pool: POOL, venue: 'pumpswap', trades: 3, feeBps: 25 })
  t.strictSame(row.lastTrade, { cursor: 1_048_583, slot: 1, blockTime: 1_700_000_000 })
  t.same([row.lastPrice, row.reserves], [null, null])
  const again = unpackRecord(
    poolKind,
    addressKey('q', POOL),
    packRecord(poolKind, addressKey('q', POOL), row).slice()
  )
  t.strictSame(again, row)
})

t.test('a curve of an older store has no stated start', async (t) => {
  const { folds } = ingestAll([block(5, NOON, [launch(), curve('create')])], OPTIONS)
  const [stored] = folds[0]!.curves
  const older: RecordKind<CurveRow> = {
    ...curveKind,
    write: (out, row) => {
      const whole = new ByteWriter()
      curveKind.write(whole, row)
      // The start was appended: one byte if it is missing.
      const bytes = whole.written(0).slice(0, -1)
      out.fixed(bytes, bytes.length)
    }
  }
  const address = addressKey('b', key(1))
  const read = (kind: RecordKind<CurveRow>): CurveRow =>
    unpackRecord(curveKind, address, packRecord(kind, address, stored!).slice())
  t.equal(read(older).forSale, null)
  t.strictSame(read(older), read(curveKind))
})

t.test('prices in USD of an older store are read as they were', async (t) => {
  t.match(unpackRecord(tokenKind, addressKey('m', key(1)), Buffer.from(OLDER.token, 'hex')), { lastUsd: 1.5 })
  const hour = unpackRecord(activityKind, activityKey('mint', key(1), HOUR), Buffer.from(OLDER.hour, 'hex'))
  t.match(hour, {
    priorUsd: 1.25,
    minutes: [
      { minute: HOUR, openUsd: 1.5, closeUsd: 2.5 },
      { minute: HOUR + 60, openUsd: null, closeUsd: null }
    ]
  })
})

t.test('liquidity of an older store is that of both sides, and is written as it was', async (t) => {
  const bytes = Buffer.from(OLDER.event, 'hex')
  const row = poolEventCodec.read(new ByteReader(bytes), null, new KeyTable())
  t.match(row.body, { event: 'remove', baseAmount: 100n, traderBase: 100n, quoteAmount: 0n, traderQuote: 0n })
  const out = new ByteWriter()
  poolEventCodec.write(out, row, null, new KeyTable())
  t.equal(Buffer.from(out.written()).toString('hex'), OLDER.event)
})

const emptyMarket = () => new MarketState(EMPTY_START)

function keptOn(market: MarketState, decoded: DecodedBlock): KeptBlock {
  const prepared = market.prepare(decoded, OPTIONS)
  return prepared.foldKept(noneStored(prepared.readSet)).kept
}

t.test('a kept block reads as it was, with every record that its block was folded on', async (t) => {
  const market = emptyMarket()
  const events = [buy(10n ** 9n, 10n ** 6n), solSale(200), launch(), curve('create')]
  keptOn(market, block(5, NOON, events))
  const kept = keptOn(market, block(6, NOON + 1, events))
  const stored = keptBlockKind.read(new ByteReader(Buffer.from(KEPT, 'base64')), keptBlockKey(6))
  for (const name of KEPT_RECORDS) {
    // Tokens of then did not have their active hours.
    const expected = kept.before.values[name].map((value) => {
      const { activeHours: _, ...row } = { ...value.row } as Partial<TokenRow>
      return name === 'tokens' && value.row !== null ? { ...value, row } : value
    })
    assert.deepStrictEqual(stored.before.values[name], expected, name)
    t.ok(
      stored.before.values[name].some(({ row }) => row !== null),
      name
    )
  }
  const added = READ_FIRST.filter((name) => !KEPT_RECORDS.includes(name))
  for (const name of added) t.strictSame(stored.before.values[name], [], 'of a record that came later')
  const out = new ByteWriter()
  // The stored one has no head.
  const before = { ...kept.before, head: null, values: stored.before.values }
  keptBlockKind.write(out, { ...kept, before })
  const contents = deserialize(zstdDecompressSync(out.written())) as {
    before: { totals: object; values: { curves: readonly { curve: object | null }[] } }
  }
  const written = deserialize(zstdDecompressSync(Buffer.from(KEPT, 'base64'))) as typeof contents
  for (const name of added) Object.assign(written.before.values, { [name]: [] })
  for (const { curve: row } of written.before.values.curves)
    if (row !== null) Object.assign(row, { forSale: null })
  // Totals of then did not count the trades without a price.
  Object.assign(written.before.totals, { unpriced: 0 })
  assert.deepStrictEqual(contents, written, 'under the same names')
})

t.test('a kept block of an older version is completed', async (t) => {
  const decoded = block(1, NOON, [liquidity()])
  const kept = keptOn(emptyMarket(), decoded)
  const pool = unpackRecord(poolKind, addressKey('q', POOL), Buffer.from(OLDER.pool, 'hex'))
  const { lastPrice, lastTrade, reserves, ...others } = pool
  const { traderBase, traderQuote, ...change } = liquidity()
  const older = {
    block: { ...decoded, entries: [{ ...decoded.entries[0]!, event: change }] },
    before: {
      ...kept.before,
      values: {
        ...{ pairs: [], candles: [], launches: [], tokens: [], curves: [], hours: [] },
        pools: [{ pool: POOL, row: { ...others, lastTrade: { ...lastTrade, price: 802, cashUsd: 150 } } }]
      }
    }
  }
  const asWritten = { ...keptBlockKind, write: (out: ByteWriter) => writeOlder(out, older) }
  const bytes = packRecord(asWritten, keptBlockKey(1), kept).slice()
  const read = unpackRecord(keptBlockKind, keptBlockKey(1), bytes)
  t.match(read.block.entries[0]!.event, { baseAmount: 5n, traderBase, quoteAmount: 7n, traderQuote })
  t.strictSame(read.before.values.pools, [{ address: POOL, row: pool }])
  t.same([lastPrice, reserves], [null, null])
})

function writeOlder(out: ByteWriter, value: unknown): void {
  const bytes = zstdCompressSync(serialize(value))
  out.fixed(bytes, bytes.length)
}
