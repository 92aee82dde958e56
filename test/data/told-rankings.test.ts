import t from 'tap'
import type { IndexAsker } from '../../src/data/index-asker.ts'
import type { IndexQuestion, RankingAnswer } from '../../src/data/index-question.ts'
import { MarketIndex } from '../../src/data/market-index.ts'
import { NameIndex } from '../../src/data/name-index.ts'
import { RankingHandle } from '../../src/data/ranking-handle.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { CashList } from '../../src/market/cash.ts'
import { commitOf } from '../market/sales.ts'
import { NOON } from '../market/world.ts'
import { advance, settle, virtualClock } from '../virtual-time.ts'

/** A gateway at slot 1 that asks. The holder is at the slot that the test sets, which is the number of active mints. */
function world() {
  const clock = virtualClock()
  const feed = new CommitFeed()
  const commit = (slot: number): void => feed.publish(commitOf(slot, [], { time: NOON, sales: [] }))
  commit(1)
  const holder = { slot: 1, amendments: 0 }
  const asked: IndexQuestion[] = []
  const window = () => ({ active: holder.slot, top: [] })
  const answer = (): RankingAnswer => ({
    ...{ slot: holder.slot, tokensSearched: 0, isComplete: true },
    windows: { '1h': window(), '4h': window(), '24h': window() }
  })
  const asker = {
    ask: async (question: IndexQuestion) => (asked.push(question), JSON.stringify(answer()))
  } as unknown as IndexAsker
  const index = new MarketIndex({
    ...{ clock, feed, asker, ranking: new RankingHandle() },
    names: new NameIndex({ bytesMax: 0, cash: new CashList() }),
    place: { isHeld: false, isAnsweredElsewhere: true, rank: null },
    history: { amendments: async () => holder.amendments }
  })
  const { signal } = new AbortController()
  /** Resolves with the slot of the feed and that of the ranking, read together. */
  const rankings = async () => {
    const read = await index.rankings(signal)
    return [feed.head!.slot, read.activeMints('1h')]
  }
  return { clock, commit, holder, asked, rankings }
}

t.test('a ranking of a later block waits for that block', async (t) => {
  const { clock, commit, holder, rankings } = world()
  holder.slot = 2
  let read: number[] | null = null
  void rankings().then((slots) => (read = slots))
  await advance(clock, 100)
  t.equal(read, null)
  commit(2)
  await settle()
  t.strictSame(read, [2, 2])
})

t.test('a ranking whose block has passed meanwhile is asked for again', async (t) => {
  const { commit, holder, asked, rankings } = world()
  holder.slot = 2
  const read = rankings()
  await settle()
  holder.slot = 3
  commit(2)
  commit(3)
  t.strictSame(await read, [3, 3])
  t.strictSame(
    asked.map(({ slot }) => slot),
    [1, 3]
  )
})

t.test('a block that does not come is not waited for without end', async (t) => {
  const { clock, holder, asked, rankings } = world()
  holder.slot = 9
  const read = rankings()
  await advance(clock, 1_600)
  t.strictSame(await read, [1, 9])
  t.equal(asked.length, 3)
})

t.test('a ranking is reused at its block for a second, and not after an amendment', async (t) => {
  const { clock, holder, asked, rankings } = world()
  for (let read = 0; read < 3; read++) t.strictSame(await rankings(), [1, 1])
  t.equal(asked.length, 1)
  holder.amendments = 1
  await rankings()
  t.equal(asked.length, 2)
  await advance(clock, 1_000)
  await rankings()
  t.equal(asked.length, 3)
})
