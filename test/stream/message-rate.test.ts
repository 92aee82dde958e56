import fc from 'fast-check'
import t from 'tap'
import {
  MESSAGES_A_SECOND,
  MESSAGES_AT_ONCE,
  MessageRate,
  SECONDS_TOO_FAST
} from '../../actors/stream/message-rate.ts'
import { randomRuns } from '../random-runs.ts'

const START_MS = 1_790_000_000_000

t.test(
  'messages of a burst are read up to the limit, one more is answered, and the rest of the second is ignored',
  async (t) => {
    const rate = new MessageRate()
    const taken = Array.from({ length: MESSAGES_AT_ONCE + 10 }, () => rate.take(START_MS))
    t.strictSame(taken.slice(0, MESSAGES_AT_ONCE), Array(MESSAGES_AT_ONCE).fill('read'))
    t.strictSame(taken.slice(MESSAGES_AT_ONCE), ['refuse', ...Array<string>(9).fill('ignore')])
    t.equal(rate.take(START_MS + 1_000), 'read')
  }
)

t.test('more than a thousand in a second close, and a thousand do not', async (t) => {
  const rate = new MessageRate()
  for (let n = 0; n < 1_000; n++) t.not(rate.take(START_MS), 'close')
  t.equal(rate.take(START_MS), 'close')
})

t.test(
  'a client that goes on sending too fast is closed, and one that rests for a second is not',
  async (t) => {
    const secondsUntilClosed = (restsAt: number): number => {
      const rate = new MessageRate()
      for (let second = 0; second < 100; second++) {
        if (second === restsAt) continue
        for (let n = 0; n < 200; n++)
          if (rate.take(START_MS + second * 1_000 + n * 5) === 'close') return second
      }
      return Infinity
    }
    t.equal(secondsUntilClosed(Infinity), SECONDS_TOO_FAST)
    t.equal(secondsUntilClosed(5), SECONDS_TOO_FAST + 6)
  }
)

t.test(
  'whatever the times, no more are read than those at once and those of the time, and one a second is answered',
  async (t) => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { minLength: 1, maxLength: 600 }), (steps) => {
        const rate = new MessageRate()
        let nowMs = START_MS
        let read = 0
        const refused = new Map<number, number>()
        for (const step of steps) {
          nowMs += step
          const what = rate.take(nowMs)
          if (what === 'read') read++
          const second = Math.floor(nowMs / 1000)
          if (what === 'refuse') refused.set(second, (refused.get(second) ?? 0) + 1)
        }
        const spanMs = nowMs - START_MS
        t.ok(read <= MESSAGES_AT_ONCE + (spanMs * MESSAGES_A_SECOND) / 1000 + 1)
        t.ok([...refused.values()].every((count) => count === 1))
      }),
      randomRuns(200)
    )
  }
)
