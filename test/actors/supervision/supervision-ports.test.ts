import t from 'tap'
import { sleep } from '../../../src/ports.ts'
import { advance, settle, virtualClock } from '../../virtual-time.ts'

t.test('a sleep ends after its time, or when its signal aborts', async (t) => {
  const clock = virtualClock()
  const alarm = new AbortController()
  let awake = 0
  const sleepFor = (ms: number) => sleep(clock, ms, alarm.signal).then(() => awake++)
  const sleeps = [sleepFor(10), sleepFor(20)]
  await advance(clock, 9)
  t.equal(awake, 0)
  await advance(clock, 1)
  t.equal(awake, 1)
  alarm.abort()
  await settle()
  t.equal(awake, 2)
  await Promise.all([...sleeps, sleepFor(1_000)])
  t.equal(awake, 3, 'an aborted signal lets nobody sleep')
})
