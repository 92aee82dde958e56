import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { indexAnswers } from '../../../actors/data/index-answers.ts'
import { questionText, rankingIn, type IndexQuestion } from '../../../src/data/index-question.ts'
import { indexMetrics } from '../../../src/data/metrics.ts'
import { NameIndex } from '../../../src/data/name-index.ts'
import { RankingHandle } from '../../../src/data/ranking-handle.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import { CashList } from '../../../src/market/cash.ts'
import { Ranking } from '../../../src/market/ranking.ts'
import { FakeQuestionServer } from '../../data/fake-questions.ts'
import { commitOf, MINTS } from '../../market/sales.ts'
import { NOON } from '../../market/world.ts'
import { advance, settle, virtualClock, type VirtualClock } from '../../virtual-time.ts'

/** A process that holds names and rankings of one trade, at slot 1. */
function holder(t: Test, server: FakeQuestionServer, clock: VirtualClock, rank: number | null = 0) {
  const feed = new CommitFeed()
  const ranking = new RankingHandle()
  const ranked = new Ranking()
  const names = new NameIndex({ bytesMax: 2 ** 20, cash: new CashList() })
  names.isLoaded = true
  const sales = [{ mint: MINTS[0]!, time: NOON, microUsd: 5n }]
  feed.follow({ published: (commit) => ranked.apply(commit) })
  const commit = (slot: number): void => feed.publish(commitOf(slot, sales, { time: NOON, sales }))
  commit(1)
  ranking.show(ranked)
  const place = { rank, isAsked: true }
  const state = { amendments: 0 }
  const metrics = indexMetrics(new Registry())
  const reported: unknown[] = []
  const draining = new AbortController()
  const joined = server.join()
  const run = indexAnswers({ feed, clock, place, ranking, names, metrics }, () => joined.hints)
  const ended = run({
    input: {
      storage: { questions: joined.questions, history: { amendments: async () => state.amendments } as never }
    },
    draining: draining.signal,
    signal: draining.signal,
    ready: () => undefined,
    gauge: () => undefined,
    supervises: () => undefined,
    show: () => undefined,
    report: (error) => reported.push(error)
  })
  const end = async (): Promise<void> => {
    draining.abort()
    await ended
  }
  t.teardown(end)
  return { feed, ranking, names, place, state, metrics, reported, commit, end }
}

const ranked = (slot: number, amendments = 0): IndexQuestion => ({ kind: 'ranking', slot, amendments })

function world(t: Test) {
  const clock = virtualClock()
  const server = new FakeQuestionServer()
  const asker = server.join()
  const ask = async (id: string, question: IndexQuestion | string): Promise<void> => {
    const text = typeof question === 'string' ? question : questionText(question)
    await asker.questions.put({ id, text })
    asker.hints.questions!.publish({ id, text })
    await settle()
    await settle()
  }
  return { clock, server, ask, hold: (rank?: number | null) => holder(t, server, clock, rank) }
}

t.test('the first holder answers at once, and the second only what the first has not answered', async (t) => {
  const { clock, server, ask, hold } = world(t)
  const [first, second] = [hold(0), hold(1)]
  await ask('one', ranked(1))
  t.match(rankingIn(server.answers.get('one')!), {
    slot: 1,
    tokensSearched: 0,
    isComplete: true,
    windows: { '1h': { active: 1, top: [[/./, 1, '5']] }, '24h': { active: 1 } }
  })
  await advance(clock, 300)
  t.equal(server.answered, 1)
  await first.end()
  await ask('two', ranked(1))
  await advance(clock, 249)
  t.equal(server.answers.has('two'), false)
  await advance(clock, 1)
  t.ok(rankingIn(server.answers.get('two')!))
  t.match((await second.metrics.answered.get()).values, [{ value: 1 }])
})

t.test('a question without a notification is found in the store', async (t) => {
  const { clock, server, ask, hold } = world(t)
  hold()
  await settle()
  server.notifies = false
  await ask('one', ranked(1))
  t.equal(server.answered, 0)
  await advance(clock, 1_000)
  t.equal(server.answered, 1)
  await ask('two', ranked(1))
  await advance(clock, 200)
  t.equal(server.answered, 2)
  await advance(clock, 5_000)
  t.equal(server.answered, 2, 'each is answered once')
})

t.test('while no process has anything to ask, the store is polled only without notifications', async (t) => {
  const { clock, server, ask, hold } = world(t)
  const process = hold()
  await settle()
  process.place.isAsked = false
  const { reads } = server
  await advance(clock, 10_000)
  t.equal(server.reads, reads)
  await ask('one', ranked(1))
  t.equal(server.answered, 1, 'a question is heard all the same')
  server.notifies = false
  await advance(clock, 2_000)
  t.ok(server.reads - reads >= 5)
})

t.test('an answer includes the blocks that the question names', async (t) => {
  const { clock, server, ask, hold } = world(t)
  const process = hold()
  await ask('later', ranked(3))
  t.equal(server.answered, 0)
  process.commit(2)
  process.commit(3)
  await settle()
  await settle()
  t.equal(rankingIn(server.answers.get('later')!)!.slot, 3)
  await ask('never', ranked(9))
  await advance(clock, 501)
  process.commit(9)
  await settle()
  t.equal(server.answers.has('never'), false, 'its process has stopped waiting')
  await ask('amended', ranked(9, 1))
  t.equal(server.answers.has('amended'), false)
  process.state.amendments = 1
  await ask('known', ranked(9, 1))
  t.ok(server.answers.has('known'))
})

t.test('a process answers nothing that it does not hold, does not understand, or cannot store', async (t) => {
  const { clock, server, ask, hold } = world(t)
  const process = hold(null)
  await ask('free', ranked(1))
  process.place.rank = 0
  await ask('unknown', '{"kind":"prices"}')
  process.ranking.withdraw()
  await ask('loading', ranked(1))
  process.ranking.show(new Ranking())
  server.isAway = true
  process.commit(2)
  await settle()
  server.isAway = false
  await advance(clock, 2_000)
  t.strictSame([...server.answers.keys()], ['free'], 'which it finds in the store now that it holds them')
  t.strictSame(process.reported, [])
})
