import t from 'tap'
import { logTtlOf, windowOfRetention } from '../../storage/scylla/retention.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const DAY = 86_400

t.test('every retention that can be has 20 to 50 windows', async (t) => {
  let least = Infinity
  let most = 0
  for (let ttl = 1_200; ttl < 570_000_000; ttl = Math.ceil(ttl * 1.003)) {
    const windows = ttl / windowOfRetention(ttl).seconds
    least = Math.min(least, windows)
    most = Math.max(most, windows)
  }
  t.ok(least >= 20, `${least} windows`)
  t.ok(most <= 50, `${most} windows`)
})

t.test('usual retentions have windows of a usual length', async (t) => {
  const windows = [1, 7, 30, 90, 365].map((days) => windowOfRetention(days * DAY))
  t.strictSame(
    windows.map(({ size, unit }) => `${size} ${unit}`),
    ['1 HOURS', '6 HOURS', '1 DAYS', '3 DAYS', '10 DAYS']
  )
})

t.test('a retention that is too short or too long is refused, with the reason', async (t) => {
  t.throws(() => windowOfRetention(1_199), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail: /less than 1200 s has fewer than 20 windows/
  })
  t.throws(() => windowOfRetention(7_300 * DAY), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail: /no server stores rows for more than/
  })
})

t.test('the log lives for longer than any horizon reaches, and always has windows', async (t) => {
  for (const horizon of [1, 600, 3_600, DAY, 90 * DAY, 7_000 * DAY, 3.2e9]) {
    const ttl = logTtlOf(horizon) as number
    t.ok(ttl > Math.min(horizon, 6_600 * DAY), `${ttl} s for ${horizon}`)
    t.ok(windowOfRetention(ttl).seconds > 0)
  }
  t.equal(logTtlOf(DAY), 108_000)
  t.strictSame([logTtlOf(null), logTtlOf('as it is')], [null, 'as it is'])
})
