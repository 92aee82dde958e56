import fc from 'fast-check'
import t from 'tap'
import type { Candle, TradeRow } from '../../src/market/rows.ts'
import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'
import { KeyTable } from '../../storage/codec/key-table.ts'
import { compactTradeCodec, tradeCodec, unusedBits } from '../../storage/codec/trade.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage, TradeSection } from '../../storage/port.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleCash, sampleMint, samplePool } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { sampleCandle } from '../../storage/test/sample-pairs.ts'
import { randomRuns } from '../random-runs.ts'

const FIELDS: Readonly<Record<TradeSection, readonly (keyof TradeRow)[]>> = {
  signature: ['signature'],
  traderAmounts: ['traderIn', 'traderOut'],
  details: ['fees', 'reserves', 'route']
}
const SECTIONS = Object.keys(FIELDS) as TradeSection[]
const sections = fc.subarray(SECTIONS).map((some): ReadonlySet<TradeSection> => new Set(some))

/** Returns a row's fields outside of some sections. */
function restOf(row: TradeRow, unused: ReadonlySet<TradeSection>): Partial<TradeRow> {
  const left = new Set<string>([...unused].flatMap((section) => FIELDS[section]))
  return Object.fromEntries(Object.entries(row).filter(([name]) => !left.has(name)))
}

const rows = Array.from({ length: 40 }, (_, index) => sampleBlock(9, index).trades).flat()
/** Rows of which some repeat the signature, and are alike but for amounts, so that the compact codec shortens them. */
const list = fc
  .array(fc.record({ row: fc.constantFrom(...rows), more: fc.nat(3), isTraders: fc.boolean() }), {
    minLength: 1,
    maxLength: 6
  })
  .map((some) => {
    const alike = some.flatMap(({ row, more, isTraders }) =>
      Array.from({ length: 1 + more }, () =>
        isTraders ? { ...row, traderIn: row.inAmount, traderOut: row.outAmount } : row
      )
    )
    return alike.map((row, at) => ({ ...row, cursor: 1_000 + at }))
  })

t.test('a trade read without some sections has all others', async (t) => {
  for (const codec of [tradeCodec, compactTradeCodec])
    fc.assert(
      fc.property(list, sections, (some, unused) => {
        const out = new ByteWriter()
        const written = new KeyTable()
        some.forEach((row, at) =>
          codec.write(out, row, at === 0 ? null : codec.beforeOf(some[at - 1]!), written)
        )
        const source = new ByteReader(out.take())
        const keys = new KeyTable()
        const read: TradeRow[] = []
        while (!source.atEnd) read.push(codec.read(source, read.at(-1) ?? null, keys, unusedBits(unused)))
        t.strictSame(
          read.map((row) => restOf(row, unused)),
          some.map((row) => restOf(row, unused))
        )
      }),
      randomRuns(200)
    )
})

const mint = sampleMint(0)
const cash = sampleCash(0)
const wallet = samplePool(77)
const CANDLES = { from: 0, to: 4e9, limit: 150 } as const

async function fill(directory: string): Promise<void> {
  const storage = await openEmbeddedStorage({ directory })
  for (let index = 0; index < 40; index++) {
    const { trades } = blockOfTrades(index, mint, 12)
    const candles = [0, 1, 2, 3].map((at) => ({
      ...({ mint, cash, interval: '1m' } as const),
      candle: sampleCandle(new Choices(4 * index + at), 1_760_000_040 + 60 * (4 * index + at))
    }))
    await storage.blocks.commit({
      ...sampleBlock(6, index),
      trades: trades.map((row) => ({ ...row, user: wallet, cashSide: 'in' })),
      candles
    })
  }
  await storage.close()
}

const newest = { order: 'desc', limit: 100 } as const

/** Requests of a part of rows, and of them whole. */
const REQUESTS: Readonly<
  Record<string, (storage: Storage, unused: ReadonlySet<TradeSection> | undefined) => Promise<TradeRow[]>>
> = {
  'of a mint': ({ trades }, unused) => trades.ofMint(mint, { ...newest, unused }),
  'of a mint, from a place in a page': ({ trades }, unused) =>
    trades.ofMint(mint, { ...newest, from: (rowsOfMint[20] ?? rowsOfMint[0]!).cursor, unused }),
  'of a wallet': ({ trades }, unused) => trades.ofWallet(wallet, { ...newest, unused })
}
let rowsOfMint: readonly TradeRow[] = []

t.test(
  'a list read without sections of its rows is the whole list without them, and is whole when read again',
  async (t) => {
    const directory = t.testdir()
    await fill(directory)
    const all = await openEmbeddedStorage({ directory })
    rowsOfMint = await all.trades.ofMint(mint, { order: 'desc', limit: 1_000 })
    const whole = new Map<string, TradeRow[]>()
    for (const [name, request] of Object.entries(REQUESTS)) whole.set(name, await request(all, undefined))
    await all.close()
    for (const [name, request] of Object.entries(REQUESTS)) {
      t.equal(whole.get(name)!.length, 100, name)
      const unused = new Set(SECTIONS)
      // A store that was just opened has nothing in memory, so its first read decodes bytes.
      const storage = await openEmbeddedStorage({ directory })
      const part = await request(storage, unused)
      t.ok(
        part.every(({ signature }) => signature.length === 0),
        `${name}: bytes of signatures are not copied`
      )
      t.strictSame(
        part.map((row) => restOf(row, unused)),
        whole.get(name)!.map((row) => restOf(row, unused)),
        name
      )
      for (let repeat = 0; repeat < 3; repeat++)
        t.strictSame(await request(storage, undefined), whole.get(name))
      t.strictSame(
        (await request(storage, unused)).map((row) => restOf(row, unused)),
        part.map((row) => restOf(row, unused))
      )
      await storage.close()
    }
  }
)

t.test('candles read in one currency have its prices, and all prices when they are read again', async (t) => {
  const directory = t.testdir()
  await fill(directory)
  const all = await openEmbeddedStorage({ directory })
  const whole = await all.candles.range(mint, cash, '1m', CANDLES)
  await all.close()
  t.equal(whole.length, 150)
  for (const currency of ['native', 'usd'] as const) {
    const restOfCandle = (candle: Candle): object => {
      const { native, usd, nativeRaw, usdRaw, ...rest } = candle
      const other = currency === 'native' ? [usd, usdRaw] : [native, nativeRaw]
      const own = currency === 'native' ? [native, nativeRaw] : [usd, usdRaw]
      return { ...rest, own, isKnown: other.map((prices) => prices !== null) }
    }
    const storage = await openEmbeddedStorage({ directory })
    const part = await storage.candles.range(mint, cash, '1m', { ...CANDLES, currency })
    t.strictSame(part.map(restOfCandle), whole.map(restOfCandle))
    t.notSame(part, whole, 'the other prices are not read')
    for (let repeat = 0; repeat < 3; repeat++)
      t.strictSame(await storage.candles.range(mint, cash, '1m', CANDLES), whole)
    await storage.close()
  }
})
