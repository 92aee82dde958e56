import { Registry } from 'prom-client'
import t from 'tap'
import { IndexAsker, ASK_MS } from '../../src/data/index-asker.ts'
import { questionId, questionIn, questionText, hitsIn, rankingIn } from '../../src/data/index-question.ts'
import { indexMetrics } from '../../src/data/metrics.ts'
import { ERRORS } from '../../src/kernel/errors.ts'
import { advance, settle, virtualClock } from '../virtual-time.ts'
import { FakeQuestionServer } from './fake-questions.ts'

const SEARCH = { kind: 'search', slot: 7, amendments: 0, text: 'grain', limit: 20 } as const

function world() {
  const clock = virtualClock()
  const server = new FakeQuestionServer()
  const metrics = indexMetrics(new Registry())
  const asker = new IndexAsker({ ...server.join(), clock, metrics })
  return { clock, server, asker, other: server.join(), metrics }
}

t.test('an answer is given as soon as it is said to be stored', async (t) => {
  const { clock, asker, other, server } = world()
  const asked = asker.ask(SEARCH)
  await settle()
  const [[id, text]] = [...server.asked] as [[string, string]]
  t.strictSame(questionIn(text), SEARCH)
  await other.questions.answer(id, 'an answer')
  other.hints.answers!.publish(id)
  t.equal(await asked, 'an answer')
  t.equal(clock.now(), 0)
})

t.test('an answer whose notification is lost is found by a poll', async (t) => {
  const { clock, asker, other, server } = world()
  for (const [notifies, ms] of [
    [true, 250],
    [false, 50]
  ] as const) {
    server.notifies = notifies
    let answer: string | null = null
    void asker.ask({ ...SEARCH, limit: ms }).then((text) => (answer = text))
    await settle()
    await other.questions.answer([...server.asked.keys()].at(-1)!, 'an answer')
    await advance(clock, ms - 1)
    t.equal(answer, null)
    await advance(clock, 1)
    t.equal(answer, 'an answer')
  }
})

t.test('a question that nobody answers within a second is refused with the reason', async (t) => {
  const { clock, asker, metrics } = world()
  const refused = t.rejects(asker.ask(SEARCH), {
    kind: ERRORS.INDEX_LOADING,
    message: /no gateway that holds names and rankings has answered within 1 s/
  })
  await advance(clock, ASK_MS)
  await refused
  t.match((await metrics.asked.get()).values, [{ labels: { outcome: 'unanswered' }, value: 1 }])
})

t.test('equal questions are asked once, and an answer is used by all gateways', async (t) => {
  const { asker, other, server, clock } = world()
  const asked = [asker.ask(SEARCH), asker.ask(SEARCH)]
  await settle()
  t.equal(server.asked.size, 1)
  const [id] = [...server.asked.keys()]
  await other.questions.answer(id!, 'an answer')
  other.hints.answers!.publish(id!)
  t.strictSame(await Promise.all(asked), ['an answer', 'an answer'])
  server.asked.clear()
  const third = new IndexAsker({ ...server.join(), clock, metrics: indexMetrics(new Registry()) })
  t.equal(await third.ask(SEARCH), 'an answer')
  t.equal(server.asked.size, 0, 'it found the answer')
})

t.test('questions differ by kind, text, limit, block, amendments and second', async (t) => {
  const ids = [
    questionId(SEARCH, 0),
    questionId({ ...SEARCH, text: 'grains' }, 0),
    questionId({ ...SEARCH, limit: 21 }, 0),
    questionId({ ...SEARCH, slot: 8 }, 0),
    questionId({ ...SEARCH, amendments: 1 }, 0),
    questionId(SEARCH, 1_000),
    questionId({ kind: 'ranking', slot: 7, amendments: 0 }, 0)
  ]
  t.equal(new Set(ids).size, ids.length)
  t.equal(questionId(SEARCH, 999), ids[0])
  for (const id of ids) t.match(id, /^[\w-]{1,64}$/)
  t.match(questionId({ kind: 'ranking', slot: -1, amendments: 2 ** 40 }, 2 ** 43), /^[\w-]{1,64}$/)
})

t.test('texts that no version writes are neither questions nor answers', async (t) => {
  const long = JSON.stringify({ ...SEARCH, text: 'x'.repeat(9_000) })
  for (const text of ['', '{', '{}', 'null', '{"kind":"other","slot":1,"amendments":0}', long])
    t.equal(questionIn(text), null, text.slice(0, 60))
  t.strictSame(questionIn(questionText(SEARCH)), SEARCH)
  for (const text of ['', '7', '{}', '{"slot":1}', ' '.repeat(3_300_000)]) {
    t.equal(rankingIn(text), null)
    t.equal(hitsIn(text), null)
  }
  const names = { slot: 1, tokensSearched: 3, isComplete: true }
  t.equal(hitsIn(JSON.stringify({ ...names, compared: 2, hits: [{ mint: 'no address' }] })), null)
})
