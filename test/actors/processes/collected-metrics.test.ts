import t from 'tap'
import { CollectedMetrics, WITHIN_MS } from '../../../actors/processes/collected-metrics.ts'
import type { ParentMessage } from '../../../actors/processes/process-messages.ts'
import { advance, virtualClock } from '../../virtual-time.ts'

/** Three processes with their messages from the parent. */
function three() {
  const clock = virtualClock()
  const collected = new CollectedMetrics(clock)
  const heard = new Map<number, ParentMessage[]>()
  const send = (number: number) => (message: ParentMessage) => void heard.get(number)!.push(message)
  for (const number of [1, 2, 3]) {
    heard.set(number, [])
    collected.join(number, send(number))
  }
  const want = (number: number, request: number): void =>
    collected.hear(number, { millrace: 'metrics.wanted', request }, send(number))
  /** Has a process answer the newest request that it was sent. */
  const give = (number: number, name: string): void => {
    const { request } = heard.get(number)!.at(-1) as { request: number }
    collected.hear(number, { millrace: 'metrics.given', request, metrics: [{ name }] }, send(number))
  }
  return { clock, collected, heard, want, give }
}

t.test('a process that asks gets the metrics of all others, by its own number of the request', async (t) => {
  const { heard, want, give } = three()
  want(1, 40)
  want(2, 40)
  t.match(heard.get(3), [{ millrace: 'metrics.wanted' }, { millrace: 'metrics.wanted' }])
  t.equal(heard.get(2)!.length, 1)
  give(2, 'of 2')
  give(3, 'of 3')
  t.equal(heard.get(1)!.length, 1, 'the request of 2 alone')
  give(1, 'of 1')
  t.strictSame(heard.get(2)!.at(-1), {
    millrace: 'metrics.collected',
    request: 40,
    processes: [[{ name: 'of 3' }], [{ name: 'of 1' }]]
  })
})

t.test('a process that does not answer in time, or has ended, is left out', async (t) => {
  const { clock, collected, heard, want, give } = three()
  want(1, 1)
  give(2, 'of 2')
  await advance(clock, WITHIN_MS)
  t.strictSame(heard.get(1), [{ millrace: 'metrics.collected', request: 1, processes: [[{ name: 'of 2' }]] }])
  give(3, 'late')
  t.equal(heard.get(1)!.length, 1, 'nothing follows')
  want(1, 2)
  give(2, 'of 2')
  collected.leave(3)
  t.match(heard.get(1)!.at(-1), { request: 2, processes: [[{ name: 'of 2' }]] })
  collected.leave(2)
  want(1, 3)
  t.strictSame(heard.get(1)!.at(-1), { millrace: 'metrics.collected', request: 3, processes: [] })
})
