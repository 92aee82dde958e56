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

t.test('a zero and a negative zero are different values of cash', async (t) => {
  const [one] = rows
  const pair = [0, -0].map((cashUsd, at) => ({ ...one!, cursor: one!.cursor + at * 4, cashUsd }))
  const [, second] = read(compactTradeCodec, written(compactTradeCodec, pair))
  t.ok(Object.is(second!.cashUsd, -0))
})
