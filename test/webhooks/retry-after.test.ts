import t from 'tap'
import { retryAfterMs } from '../../src/webhooks/retry-after.ts'

const NOW = Date.UTC(2026, 0, 1, 12)

t.test('Retry-After is read as seconds and as a date, and is null in any other form', async (t) => {
  const cases: [header: string | string[] | undefined, ms: number | null][] = [
    ['0', 0],
    ['120', 120_000],
    ['999999999', 999_999_999_000],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    [undefined, null],
    ['', null],
    ['-1', null],
    ['1.5', null],
    ['1e9', null],
    ['9999999999', null],
    ['soon', null],
    ['2026-01-01T12:00:30Z', null],
    ['Thu, 41 Jan 2026 12:00:30 GMT', null],
    [['1', '2'], null]
  ]
  for (const [header, ms] of cases) t.equal(retryAfterMs(header, NOW), ms, String(header))
})
