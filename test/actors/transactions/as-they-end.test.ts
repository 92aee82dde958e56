import t from 'tap'
import { asTheyEnd } from '../../../actors/transactions/as-they-end.ts'
import { settle } from '../../virtual-time.ts'

/** Work whose ends the test decides. */
function openWork() {
  const begun = new Map<number, PromiseWithResolvers<string>>()
  const work = (item: number): Promise<string> => {
    const outcome = Promise.withResolvers<string>()
    begun.set(item, outcome)
    return outcome.promise
  }
  return { begun, work }
}

t.test('results come as their work ends, and a limited number is at work', async (t) => {
  const { begun, work } = openWork()
  const results = asTheyEnd([1, 2, 3], 2, work, new AbortController().signal)
  const first = results.next()
  await settle()
  t.same([...begun.keys()], [1, 2])
  begun.get(2)!.resolve('second')
  t.same(await first, { value: 'second', done: false })
  const next = results.next()
  await settle()
  t.same([...begun.keys()], [1, 2, 3])
  begun.get(3)!.resolve('third')
  t.same(await next, { value: 'third', done: false })
  begun.get(1)!.resolve('first')
  t.same(await results.next(), { value: 'first', done: false })
  t.ok((await results.next()).done)
})

t.test('after an abort nothing more begins, and what is at work still gives its result', async (t) => {
  const { begun, work } = openWork()
  const end = new AbortController()
  const results = asTheyEnd([1, 2, 3], 2, work, end.signal)
  const first = results.next()
  end.abort()
  begun.get(1)!.resolve('first')
  begun.get(2)!.resolve('second')
  t.same([(await first).value, (await results.next()).value], ['first', 'second'])
  t.ok((await results.next()).done)
  t.same([...begun.keys()], [1, 2])
})

t.test('the first fault ends all, and a later one is heard by nobody', async (t) => {
  const { begun, work } = openWork()
  const results = asTheyEnd([1, 2], 2, work, new AbortController().signal)
  const first = results.next()
  begun.get(2)!.reject(new Error('a fault'))
  await t.rejects(first, { message: 'a fault' })
  begun.get(1)!.reject(new Error('another one'))
  await settle()
  t.ok((await results.next()).done)
})
