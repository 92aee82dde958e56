import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { CashList } from '../../src/market/cash.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { LogChannel } from '../../src/market/log.ts'
import type { SlotRow, TradeRow } from '../../src/market/rows.ts'
import { ChannelHistory } from '../../src/stream/channel-history.ts'
import { channelOf, type Channel } from '../../src/stream/channel.ts'
import type { Storage } from '../../storage/port.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades } from '../../storage/test/sample-blocks.ts'

const MINTS = [0, 1, 2].map((n) => sampleMint(n))
const BLOCKS = Array.from({ length: 60 }, (_, i) => blockOfTrades(i, MINTS[i % 2]!, 1))
const SLOTS = BLOCKS.map(({ slot }) => slot)
const UNTIL = cursorAt(SLOTS.at(-1)!.slot + 1, 0) - 1
const LIMITS = { rows: 100, parts: 4 }

/** A store of those blocks that counts reads of slots. A read of a range completes when the test says so. */
function counted() {
  const asked = { at: 0, between: 0, moves: 0 }
  const amended = { times: 0 }
  let given: readonly SlotRow[] = SLOTS
  let answered = Promise.resolve()
  const storage = {
    blocks: {
      at: async (slot: number) => {
        asked.at++
        return SLOTS.find((row) => row.slot === slot) ?? null
      },
      between: async (first: number, last: number) => {
        asked.between++
        const rows = given.filter(({ slot }) => slot >= first && slot <= last)
        await answered
        return rows
      }
    },
    trades: {
      ofMint: async (mint: TradeRow['mint']) =>
        BLOCKS.flatMap(({ trades }) => trades).filter((row) => Buffer.compare(row.mint, mint) === 0)
    },
    log: {
      read: async (channel: LogChannel) => {
        if (channel === 'moves') asked.moves++
        return []
      }
    },
    history: { amendments: async () => amended.times }
  }
  return {
    asked,
    amended,
    history: new ChannelHistory(storage as unknown as Storage, new CashList()),
    /** Later ranges return fewer slots, and complete once a promise does. */
    hold(rows: readonly SlotRow[], over: Promise<void>) {
      given = rows
      answered = over
    }
  }
}

const tradesOf = (n: number): Channel => channelOf(`trades:${pubkeyToBase58(MINTS[n]!)}`) as Channel

t.test(
  'when the blocks of a page were received is read by stretches of slots, once for channels that ask together',
  async (t) => {
    const { asked, history } = counted()
    const pages = await Promise.all([0, 1].map((n) => history.read(tradesOf(n), -1, UNTIL, LIMITS)))
    t.strictSame(
      pages.map(({ events }) => events.length),
      [30, 30]
    )
    const stretches = new Set(SLOTS.map(({ slot }) => Math.floor(slot / 128))).size
    t.equal(asked.between, stretches)
    t.ok(asked.at <= 30, `${asked.at} of the second channel were not among those of the first read`)
    await history.read(tradesOf(0), -1, UNTIL, LIMITS)
    t.equal(asked.between, stretches, 'and is known then')
  }
)

t.test('a slot that a read under way was too early for is looked up, and no event is left out', async (t) => {
  const { history, ...store } = counted()
  const over = Promise.withResolvers<void>()
  store.hold(SLOTS.slice(0, 20), over.promise)
  const first = history.read(tradesOf(0), -1, UNTIL, LIMITS)
  const second = history.read(tradesOf(1), -1, UNTIL, LIMITS)
  await new Promise((resolve) => setImmediate(resolve))
  over.resolve()
  await first
  t.equal((await second).events.length, 30)
})

t.test('the order in which events are told is read anew after an amendment alone', async (t) => {
  const { asked, amended, history } = counted()
  for (let page = 0; page < 5; page++) await history.read(tradesOf(0), -1, UNTIL, LIMITS)
  t.equal(asked.moves, 1)
  amended.times++
  for (let page = 0; page < 5; page++) await history.read(tradesOf(1), -1, UNTIL, LIMITS)
  t.equal(asked.moves, 2)
})

t.test('a page during which an amendment came is read again', async (t) => {
  const { asked, amended, history, ...store } = counted()
  const over = Promise.withResolvers<void>()
  store.hold(SLOTS, over.promise)
  const page = history.read(tradesOf(0), -1, UNTIL, LIMITS)
  await new Promise((resolve) => setImmediate(resolve))
  amended.times++
  over.resolve()
  t.equal((await page).events.length, 30)
  t.equal(asked.moves, 2)
})
