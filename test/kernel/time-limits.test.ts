import t from 'tap'
import * as limits from '../../src/kernel/time-limits.ts'
import { stepMs } from '../../src/kernel/time-limits.ts'

t.test('the steps within a limit end before it, however many there are and however short it is', (t) => {
  for (const outerMs of [2, 50, 399, 400, 2_000, 10_000])
    for (const tries of [1, 2, 3]) {
      const step = stepMs(outerMs, tries)
      t.ok(step * tries < outerMs, `${tries} in ${outerMs} ms`)
      t.ok(step * tries >= outerMs / 2 - tries, 'most of the time is left for the steps')
    }
  t.end()
})

/** Each limit with the one around it, and the number of its attempts. */
const NESTED = [
  ['CQL_TRY_MS', 'ANSWER_LIMIT_MS', 2],
  ['CQL_STEP_MS', 'ANSWER_LIMIT_MS', 1],
  ['ACCOUNTS_WAIT_MS', 'ACCOUNTS_ANSWER_MS', 1],
  ['ACCOUNTS_READ_MS', 'ACCOUNTS_WAIT_MS', 1],
  ['ACCOUNTS_REQUEST_MS', 'ACCOUNTS_READ_MS', 2],
  ['HEIGHT_WAIT_MS', 'STATUS_ANSWER_MS', 1],
  ['STATUS_WAIT_MS', 'STATUS_ANSWER_MS', 1],
  ['TRANSACTION_REQUEST_MS', 'STATUS_WAIT_MS', 2],
  ['SIMULATION_WAIT_MS', 'SEND_ANSWER_MS', 1],
  ['TRANSACTION_REQUEST_MS', 'SIMULATION_WAIT_MS', 1],
  ['SUBSCRIPTION_ANSWER_MS', 'SUBSCRIPTION_WAIT_MS', 2]
] as const

t.test('every declared limit ends before the one around it', (t) => {
  const named = new Set<string>(NESTED.flatMap(([inner, outer]) => [inner, outer]))
  for (const name of Object.keys(limits)) if (name.endsWith('_MS')) t.ok(named.has(name), `${name} is nested`)
  for (const [inner, outer, tries] of NESTED)
    t.ok(limits[inner] * tries < limits[outer], `${inner} in ${outer}`)
  t.ok(
    limits.HEIGHT_WAIT_MS + limits.STATUS_WAIT_MS < limits.STATUS_ANSWER_MS,
    'a status waits for the height first'
  )
  t.end()
})
