import fc from 'fast-check'
import t from 'tap'
import { legOf, otherSide } from '../../src/market/legs.ts'
import { priceOf } from '../../src/market/price.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'
import { KeyTable } from '../../storage/codec/key-table.ts'
import { compactTradeCodec, tradeCodec } from '../../storage/codec/trade.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { randomRuns } from '../random-runs.ts'

const rows = Array.from({ length: 40 }, (_, index) => sampleBlock(9, index).trades).flat()

function written(codec: typeof tradeCodec, some: readonly TradeRow[]): Uint8Array {
  const out = new ByteWriter()
  const keys = new KeyTable()
  some.forEach((row, at) => codec.write(out, row, at === 0 ? null : codec.beforeOf(some[at - 1]!), keys))
  return out.take()
}

function read(codec: typeof tradeCodec, bytes: Uint8Array): TradeRow[] {
  const source = new ByteReader(bytes)
  const keys = new KeyTable()
  const found: TradeRow[] = []
  while (!source.atEnd) found.push(codec.read(source, found.at(-1) ?? null, keys))
  return found
}

/** A row with any of the fields that follow from others. */
const anyRow = fc
  .record({
    row: fc.constantFrom(...rows),
    cashUsd: fc.constantFrom(null, 1, 150.25, -0, 0),
    price: fc.constantFrom('of amounts' as const, 'another' as const, null),
    isTraders: fc.boolean(),
    amounts: fc.option(fc.tuple(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 2n ** 64n - 1n)))
  })
  .map(({ row, cashUsd, price, isTraders, amounts }): TradeRow => {
    const [inAmount, outAmount] = amounts ?? [row.inAmount, row.outAmount]
    const filled = { ...row, inAmount, outAmount, cashUsd }
    const { cashSide } = row
    const implied =
      cashSide === null ? null : priceOf(legOf(filled, cashSide), legOf(filled, otherSide(cashSide)))
    return {
      ...filled,
      price: price === null ? null : price === 'another' ? 0.1 + 0.2 : implied,
      ...(isTraders && { traderIn: inAmount, traderOut: outAmount })
    }
  })

t.test('compact rows and others are read by either codec, equal in every field', async (t) => {
  let [compact, plain] = [0, 0]
  fc.assert(
    fc.property(fc.array(anyRow, { minLength: 1, maxLength: 12 }), (any) => {
      const some = any.map((row, at) => ({ ...row, cursor: rows[0]!.cursor + 4 * at }))
      const bytes = [tradeCodec, compactTradeCodec].map((codec) => written(codec, some))
      for (const each of bytes)
        for (const codec of [tradeCodec, compactTradeCodec]) t.strictSame(read(codec, each), some)
      plain += bytes[0]!.length
      compact += bytes[1]!.length
    }),
    randomRuns(60)
  )
  t.ok(compact < plain * 0.98, `${compact} of ${plain} bytes`)
})

/** Trades of one pool as files of vendors state them, some with a field of another kind. */
const anyOfPool = fc.array(
  fc.record({
    isBuy: fc.boolean(),
    amounts: fc.tuple(fc.bigInt(1n, 2n ** 64n - 1n), fc.bigInt(0n, 2n ** 40n)),
    steps: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -60, max: 60 }), fc.nat(3)),
    cashUsd: fc.constantFrom(150.25, 150.25, 150.25, 151, null),
    other: fc.constantFrom(
      ...[{}, {}, {}, {}, {}, { unstated: 3 }, { innerIxIndex: 4 }, { exact: 'in' as const }],
      ...[{ pool: rows[1]!.user }, { price: 0.3 }, { priceForming: false }, { slot: 5 }, { traderIn: 1n }],
      ...[
        { commitment: 'confirmed' as const },
        { inDecimals: 3 },
        { feePayer: rows[2]!.user },
        { price: null }
      ]
    )
  }),
  { minLength: 2, maxLength: 40 }
)

t.test('trades of one pool in a row take fewer bytes, and no field is lost', async (t) => {
  const [first] = rows
  let [compact, plain] = [0, 0]
  fc.assert(
    fc.property(anyOfPool, (trades) => {
      let [position, blockTime] = [0, first!.blockTime]
      const some = trades.map(({ isBuy, amounts, steps, cashUsd, other }, at): TradeRow => {
        position += steps[0] * 2 ** (at % 2 === 0 ? 20 : 2)
        blockTime += steps[1]
        const cursor = first!.slot * 2 ** 20 + position
        const [inMint, outMint] = isBuy ? [first!.feePayer, first!.mint] : [first!.mint, first!.feePayer]
        const [inDecimals, outDecimals] = isBuy ? [9, 6] : [6, 9]
        const [inAmount, outAmount] = isBuy ? amounts : amounts.toReversed()
        const row = {
          ...{ ...first!, cursor, blockTime, slot: Math.floor(cursor / 2 ** 20), txIndex: at },
          ...{ signature: rows[steps[2]]!.signature, user: rows[at % 5]!.user, inMint, outMint },
          ...{ inDecimals, outDecimals, inAmount: inAmount!, outAmount: outAmount! },
          ...{ traderIn: inAmount!, traderOut: outAmount!, fees: [], reserves: null, route: null },
          ...{ exact: null, cashSide: isBuy ? ('in' as const) : ('out' as const), cashUsd },
          priceForming: true
        }
        const { statedCurve: _, vaults: __, ...plainRow } = row
        const price = priceOf(legOf(row, row.cashSide), legOf(row, otherSide(row.cashSide)))
        return { ...plainRow, price, ...other }
      })
      const bytes = [tradeCodec, compactTradeCodec].map((codec) => written(codec, some))
      for (const each of bytes) t.strictSame(read(tradeCodec, each), some)
      plain += bytes[0]!.length
      compact += bytes[1]!.length
    }),
    randomRuns(150)
  )
  t.ok(compact < plain * 0.9, `${compact} of ${plain} bytes`)
})

t.test('a zero and a negative zero are different values of cash', async (t) => {
  const [one] = rows
  const pair = [0, -0].map((cashUsd, at) => ({ ...one!, cursor: one!.cursor + at * 4, cashUsd }))
  const [, second] = read(compactTradeCodec, written(compactTradeCodec, pair))
  t.ok(Object.is(second!.cashUsd, -0))
})
