import fc from 'fast-check'
import t from 'tap'
import { CashList } from '../../src/market/cash.ts'
import { EVENT_POSITIONS, splitCursor } from '../../src/market/cursor.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { BlockEvents } from '../../src/stream/block-events.ts'
import { ChannelTable } from '../../src/stream/channel-table.ts'
import type { Channel } from '../../src/stream/channel.ts'
import { RETRACTION } from '../../src/stream/bodies/stream-schema.ts'
import { endOfSlot, retractionsOf, retractionsOn } from '../../src/stream/retractions.ts'
import { randomRuns } from '../random-runs.ts'
import { blockOf } from './blocks.ts'
import { CHANNELS } from './interleaving.ts'
import { channelNamed } from './stream-world.ts'

const CASH = new CashList()
const anyFork = fc.array(fc.array(fc.nat(69), { maxLength: 6 }), { minLength: 1, maxLength: 3 })

/** Returns the retractions that a reader of a channel receives. */
function sentOn(channel: Channel, entries: readonly LogEntry[]) {
  const events = entries.flatMap((entry) => entry.events)
  return retractionsOn(channel, events).map(({ cursor, body }) =>
    RETRACTION.parse(JSON.parse(`${Buffer.from(body).toString()}${cursor}}`))
  )
}

t.test('every copy that was told of a lost fork is taken back, the newest first', async (t) => {
  fc.assert(
    fc.property(anyFork, (fork) => {
      const blocks = fork.map((events, i) => blockOf(700 + i, events))
      const { entries, leftOut } = retractionsOf(blocks, endOfSlot(710), CASH)
      let told = 0
      const taken: number[] = []
      for (const name of CHANNELS) {
        const channel = channelNamed(name)
        const table = new ChannelTable<true>()
        table.set(channel, true)
        const events = blocks.flatMap((block) => new BlockEvents(block, CASH).on(table).get(true) ?? [])
        const sent = sentOn(channel, entries)
        t.strictSame(
          sent.map(({ of }) => of),
          events.map(({ cursor }) => cursor).reverse(),
          name
        )
        t.ok(sent.every(({ of, slot }) => splitCursor(of).slot === slot))
        told += events.length
        taken.push(...sent.map(({ cursor }) => cursor))
      }
      t.equal(leftOut, 0)
      t.equal(new Set(taken).size, told, 'each with a cursor of its own')
      for (const cursor of taken) {
        const { slot, position } = splitCursor(cursor)
        t.ok(slot === 710 && position >= EVENT_POSITIONS, 'at the end of the slot before the next block')
      }
    }),
    randomRuns(50)
  )
})

t.test('where there is no room for all, those of the newest events are kept', async (t) => {
  const blocks = [blockOf(700, [0, 2]), blockOf(701, [4])]
  const all = retractionsOf(blocks, endOfSlot(710), CASH)
  const some = retractionsOf(blocks, { ...endOfSlot(710), to: endOfSlot(710).from + 5 }, CASH)
  const count = (entries: readonly LogEntry[]): number =>
    entries.reduce((sum, { events }) => sum + events.length, 0)
  t.equal(count(some.entries), 6)
  t.equal(some.leftOut, count(all.entries) - 6)
  const slots = CHANNELS.flatMap((name) => sentOn(channelNamed(name), some.entries)).map(({ slot }) => slot)
  t.equal(slots.filter((slot) => slot === 701).length, 5, 'all copies of the newest event')
})
