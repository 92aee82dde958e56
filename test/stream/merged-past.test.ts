import t from 'tap'
import { cursorAt } from '../../src/market/cursor.ts'
import type { EncodedEvent } from '../../src/market/log.ts'
import { channelOf, type Channel } from '../../src/stream/channel.ts'
import type { ReadLimits, Stretch } from '../../src/stream/channel-history.ts'
import { MergedPast } from '../../src/stream/merged-past.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'

const SLOTS = 2_000
const ROWS_A_SLOT = 4
const CHANNELS = Array.from(
  { length: 12 },
  (_, n) => channelOf(`trades:${pubkeyToBase58(sampleMint(n))}`) as Channel
)
const ALLOCATOR = { allocate: (bytes: number) => Buffer.alloc(bytes) }

/** Rows of the n-th channel in every (n + 1)-th slot, with counts of the reads. */
function unevenHistory() {
  const rows = new Map(
    CHANNELS.map((channel, n) => {
      const slots = Array.from({ length: SLOTS }, (_, slot) => slot).filter((slot) => slot % (n + 1) === 0)
      const cursors = slots.flatMap((slot) =>
        Array.from({ length: ROWS_A_SLOT }, (_, i) => cursorAt(slot, ROWS_A_SLOT * n + i))
      )
      return [channel, cursors.map((cursor): EncodedEvent => ({ cursor, body: Buffer.alloc(0) }))]
    })
  )
  const asked = { reads: 0, most: 0 }
  const read = async (
    channel: Channel,
    after: number,
    until: number,
    limits: ReadLimits
  ): Promise<Stretch> => {
    asked.reads++
    asked.most = Math.max(asked.most, limits.rows)
    const left = rows.get(channel)!.filter(({ cursor }) => cursor > after && cursor <= until)
    const events = left.slice(0, limits.rows)
    return { events, to: events.length < left.length ? events.at(-1)!.cursor : until }
  }
  return { read, asked, total: [...rows.values()].flat().length }
}

t.test(
  'channels of which some have many more rows than others are read in pages that end together',
  async (t) => {
    const history = unevenHistory()
    const past = new MergedPast(history, CHANNELS, -1)
    const until = cursorAt(SLOTS, 0) - 1
    const cursors: number[] = []
    let pages = 0
    for (; past.position < until; pages++) {
      const page = await past.next(until, ALLOCATOR)
      const inPage = page.flatMap(({ events }) => events.map(({ cursor }) => cursor)).sort((a, b) => a - b)
      for (const cursor of inPage) {
        if (cursors.length > 0 && cursor <= cursors.at(-1)!) t.fail(`${cursor} comes after ${cursors.at(-1)}`)
        cursors.push(cursor)
      }
    }
    t.equal(cursors.length, history.total, 'each event once')
    // Pages of 64 rows each were 125, in which one channel after another was read.
    t.ok(pages <= 70, `${pages} pages`)
    t.ok(history.asked.reads <= 70 * CHANNELS.length, `${history.asked.reads} reads`)
    t.ok(history.asked.most <= 128, `${history.asked.most} rows at most`)
  }
)

t.test(
  'after the read of one channel has failed, a read of another that is still under way is not repeated',
  async (t) => {
    const [failing, slow] = [CHANNELS[0]!, CHANNELS[1]!]
    const history = unevenHistory()
    const gate = Promise.withResolvers<void>()
    let fails = 1
    let slowReads = 0
    const past = new MergedPast(
      {
        async read(channel, after, until, limits) {
          if (channel === failing && fails-- > 0) throw new Error('the store does not answer')
          if (channel === slow && slowReads++ === 0) await gate.promise
          return history.read(channel as Channel, after, until, limits)
        }
      },
      [failing, slow],
      -1
    )
    const until = cursorAt(SLOTS, 0) - 1
    await t.rejects(past.next(until, ALLOCATOR), { message: 'the store does not answer' })
    const again = past.next(until, ALLOCATOR)
    gate.resolve()
    const pages = [await again]
    while (past.position < until) pages.push(await past.next(until, ALLOCATOR))
    const cursors = pages
      .flat()
      .flatMap(({ channel, events }) => (channel === slow ? events.map(({ cursor }) => cursor) : []))
    t.same(
      cursors,
      [...new Set(cursors)].sort((a, b) => a - b),
      'each event once, in order'
    )
    t.equal(cursors.length, (SLOTS / 2) * ROWS_A_SLOT)
  }
)
