import { serialize } from 'node:v8'
import { zstdCompressSync } from 'node:zlib'
import t from 'tap'
import { marketBefore } from '../../src/market/kept-block.ts'
import { MarketState } from '../../src/market/market-state.ts'
import { noneStored } from '../../src/market/missing.ts'
import { COLD_SOL_USD } from '../../src/market/sol-usd.ts'
import { touchedBy } from '../../src/market/touched.ts'
import { activityKind } from '../../storage/codec/activity.ts'
import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'
import { KeyTable } from '../../storage/codec/key-table.ts'
import { keptBlockKind } from '../../storage/codec/kept-block.ts'
import { activityKey, keptBlockKey, poolKey, tokenKey } from '../../storage/codec/keys.ts'
import { poolEventCodec } from '../../storage/codec/pool-event.ts'
import { poolKind } from '../../storage/codec/pool.ts'
import { packRecord, unpackRecord } from '../../storage/codec/record.ts'
import { tokenKind } from '../../storage/codec/token.ts'
import { block, key, liquidity, NOON, OPTIONS, POOL } from '../market/world.ts'

/** Bytes that the version wrote which kept no price-forming price of pools and no provider's side of liquidity. */
const OLDER = {
  pool: '01bfee63200ac8000000070707070707070707070707070707070707070707070707070707070100000007070707070707070707070707070707070707070707070707070707030000000707070707070707070707070707070707070707070707070707070700070a0000010000000000003940000703018780400180c49fd50c010000000000108940010000000000c06240',
  token: '01cddb8fa0070780c49fd50c030101000000000000f83f00',
  hour: '01a30dffe601000000000000f43f000007010100010505000302000000000000f83f00000000000004403c00010100010505000302',
  event:
    '8780400080c49fd50c0009090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909000200050100c800000007070707070707070707070707070707070707070707070707070707016400000007070707070707070707070707070707070707070707070707070707022c010000070707070707070707070707070707070707070707070707070707070200050001020002010103010000000707070707070707070707070707070707070707070707070707070700070064000001040500000007070707070707070707070707070707070707070707070707070707'
}
const HOUR = 1_700_000_400 - (1_700_000_400 % 3_600)

t.test('a pool of an older store has its newest trade, and no price that may not count', async (t) => {
  const row = unpackRecord(poolKind, poolKey(POOL), Buffer.from(OLDER.pool, 'hex'))
  t.match(row, { pool: POOL, venue: 'pumpswap', trades: 3, feeBps: 25 })
  t.strictSame(row.lastTrade, { cursor: 1_048_583, slot: 1, blockTime: 1_700_000_000 })
  t.same([row.lastPrice, row.reserves], [null, null])
  const again = unpackRecord(poolKind, poolKey(POOL), packRecord(poolKind, poolKey(POOL), row).slice())
  t.strictSame(again, row)
})

t.test('prices in USD of an older store are read as they were', async (t) => {
  t.match(unpackRecord(tokenKind, tokenKey(key(1)), Buffer.from(OLDER.token, 'hex')), { lastUsd: 1.5 })
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

t.test('a kept block of an older version is completed', async (t) => {
  const decoded = block(1, NOON, [liquidity()])
  const market = new MarketState({ solUsd: COLD_SOL_USD, totals: null, headTime: -Infinity })
  const touched = touchedBy(decoded, OPTIONS.cash)
  market.load(noneStored(market.missing(touched)))
  const kept = { block: decoded, before: marketBefore(market, null, touched) }
  const pool = unpackRecord(poolKind, poolKey(POOL), Buffer.from(OLDER.pool, 'hex'))
  const { lastPrice, lastTrade, reserves, ...others } = pool
  const { traderBase, traderQuote, ...change } = liquidity()
  const older = {
    block: { ...decoded, entries: [{ ...decoded.entries[0]!, event: change }] },
    before: {
      ...kept.before,
      values: {
        ...kept.before.values,
        pools: [{ pool: POOL, row: { ...others, lastTrade: { ...lastTrade, price: 802, cashUsd: 150 } } }]
      }
    }
  }
  const asWritten = { ...keptBlockKind, write: (out: ByteWriter) => writeOlder(out, older) }
  const bytes = packRecord(asWritten, keptBlockKey(1), kept).slice()
  const read = unpackRecord(keptBlockKind, keptBlockKey(1), bytes)
  t.match(read.block.entries[0]!.event, { baseAmount: 5n, traderBase, quoteAmount: 7n, traderQuote })
  t.strictSame(read.before.values.pools, [{ pool: POOL, row: pool }])
  t.same([lastPrice, reserves], [null, null])
})

function writeOlder(out: ByteWriter, value: unknown): void {
  const bytes = zstdCompressSync(serialize(value))
  out.fixed(bytes, bytes.length)
}
