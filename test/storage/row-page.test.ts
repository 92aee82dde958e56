import fc from 'fast-check'
import t from 'tap'
import { openPageKey, pageKey } from '../../storage/codec/keys.ts'
import { packRecord, unpackRecord } from '../../storage/codec/record.ts'
import { tradeCodec } from '../../storage/codec/trade.ts'
import { closedPage, extendPage, rowPageKind } from '../../storage/embedded/row-page.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { originAt, sampleTrade } from '../../storage/test/sample-rows.ts'
import { randomRuns } from '../random-runs.ts'

const kind = rowPageKind('trade page', tradeCodec)
const mint = sampleMint(1)

/** Generates rows, and how many of them are in a page before the others are added. */
const rows = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 12 }), fc.nat(11)).map(([seed, count, held]) => {
  const choices = new Choices(seed)
  const list = Array.from({ length: count }, (_, at) =>
    sampleTrade(choices, originAt(choices, 1_000 + at, choices.below(99), 1_700_000_000 + at), mint)
  )
  return { list, held: 1 + (held % count) }
})

t.test('a closed page is stored as an open one, and read without its bytes', async (t) => {
  fc.assert(
    fc.property(rows, ({ list }) => {
      const page = extendPage(tradeCodec, null, list, null)
      const [closed, open] = [pageKey('t', mint, list[0]!.cursor), openPageKey('t', mint)]
      const bytes = packRecord(kind, closed, page).slice()
      t.strictSame(packRecord(kind, closed, closedPage(page)), bytes)
      const read = unpackRecord(kind, closed, bytes)
      t.equal(read.packed, '')
      t.strictSame(read.rows, list)
      const opened = unpackRecord(kind, open, packRecord(kind, open, page).slice())
      t.strictSame(opened, page)
    }),
    randomRuns(50)
  )
})

t.test('rows added to a closed page follow those that it has', async (t) => {
  fc.assert(
    fc.property(rows, ({ list, held }) => {
      const page = extendPage(tradeCodec, null, list.slice(0, held), null)
      const whole = extendPage(tradeCodec, null, list, null)
      for (const each of [page, closedPage(page)])
        t.strictSame(extendPage(tradeCodec, each, list.slice(held), null), whole)
    }),
    randomRuns(50)
  )
})
