import fc from 'fast-check'
import t from 'tap'
import { attemptLine, attemptsIn, linesText, readAttempt } from '../../src/webhooks/attempt-line.ts'
import { POST_ERRORS } from '../../src/webhooks/post-error.ts'
import type { DeliveryAttempt } from '../../src/webhooks/webhook.ts'
import { randomRuns } from '../random-runs.ts'

const count = fc.nat(2 ** 40)
const orNull = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { nil: null })
const anyAttempt: fc.Arbitrary<DeliveryAttempt> = fc.record(
  {
    batchId: fc.uuid(),
    attempt: fc.nat(3),
    statusCode: orNull(fc.integer({ min: 100, max: 999 })),
    error: orNull(fc.constantFrom(...Object.keys(POST_ERRORS), 'status_500')),
    events: fc.nat(64),
    dropped: count,
    startedAtMs: fc.oneof(count, fc.double({ min: 0, max: 2 ** 41, noNaN: true })),
    durationMs: count,
    nextRetryAtMs: orNull(count)
  },
  { noNullPrototype: true }
)

t.test('an attempt is read from its line as it was', async (t) => {
  fc.assert(
    fc.property(anyAttempt, (attempt) => {
      t.strictSame(readAttempt(attemptLine(attempt)), attempt)
    }),
    randomRuns(200)
  )
})

t.test('an attempt that an earlier version stored as an object is read as it is', async (t) => {
  const [attempt] = fc.sample(anyAttempt, randomRuns(1))
  t.equal(readAttempt(attempt!), attempt)
})

t.test('attempts beside the progress are one text, a list in a store of an earlier version', async (t) => {
  fc.assert(
    fc.property(fc.array(anyAttempt, { maxLength: 40 }), (attempts) => {
      const lines = attempts.map(attemptLine)
      t.strictSame(attemptsIn(linesText(lines)).map(readAttempt), attempts)
      t.strictSame(attemptsIn([...lines.slice(1), ...attempts.slice(0, 1)]).length, attempts.length)
    }),
    randomRuns(50)
  )
})
