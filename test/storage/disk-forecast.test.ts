import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { daysUntilFull, growthAt, growthOf, type StoredRows } from '../../storage/report/disk-forecast.ts'

const steady = { bytes: 1_000, days: 10, writtenADay: 100 }

t.test('rows that are never deleted grow by what is written until the disk is full', async (t) => {
  const growth = growthOf({ ...steady, retentionDays: Infinity })
  t.equal(growthAt([growth], 0), 100)
  t.equal(growthAt([growth], 10_000), 100)
  t.equal(daysUntilFull(5_000, [growth]), 50)
  t.equal(daysUntilFull(5_000, [growth, growth]), 25)
})

t.test(
  'rows that are kept for as long as they reach back do not grow, and the disk never fills',
  async (t) => {
    const growth = growthOf({ ...steady, retentionDays: 10 })
    t.equal(growthAt([growth], 0), 0)
    t.equal(daysUntilFull(1, [growth]), null)
  }
)

t.test('rows that do not reach back as far yet grow until they do', async (t) => {
  const growth = growthOf({ ...steady, retentionDays: 15 })
  t.equal(growthAt([growth], 0), 100)
  t.equal(daysUntilFull(400, [growth]), 4)
  t.equal(daysUntilFull(501, [growth]), null, 'they fit')
})

t.test('rows that come twice as dense as before double while the old ones are deleted', async (t) => {
  const growth = growthOf({ ...steady, writtenADay: 200, retentionDays: 10 })
  t.equal(growthAt([growth], 0), 100)
  t.equal(daysUntilFull(999, [growth]), 9.99)
  t.equal(daysUntilFull(1_001, [growth]), null, 'they fit')
})

t.test('rows that come less dense than before give space back to others', async (t) => {
  const shrinking = growthOf({ ...steady, writtenADay: 50, retentionDays: 10 })
  const growing = growthOf({ ...steady, retentionDays: Infinity })
  t.equal(growthAt([shrinking, growing], 0), 50)
  t.equal(daysUntilFull(1_000, [shrinking, growing]), 15)
  t.equal(daysUntilFull(1_000, [shrinking]), null)
})

t.test('without rows, and of kinds without growth, the disk never fills', async (t) => {
  t.equal(daysUntilFull(0, []), null)
  t.equal(
    daysUntilFull(100, [[], growthOf({ bytes: 0, days: 1, retentionDays: Infinity, writtenADay: 0 })]),
    null
  )
})

t.test('a forecast agrees with rows that are written and deleted day by day', async () => {
  const rows = fc.record({
    days: fc.integer({ min: 1, max: 20 }),
    moreDays: fc.option(fc.integer({ min: 0, max: 20 })),
    before: fc.integer({ min: 0, max: 50 }),
    now: fc.integer({ min: 0, max: 50 })
  })
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 4 }), fc.nat(2_000), (kinds, free) => {
      const stored = kinds.map(({ days, moreDays, before, now }): StoredRows => ({
        bytes: before * days,
        days,
        retentionDays: moreDays === null ? Infinity : days + moreDays,
        writtenADay: now
      }))
      // Bytes of rows by kind and day, oldest day first.
      const written = kinds.map(({ days, before }) => Array.from({ length: days }, () => before))
      let full: number | null = null
      let left = free
      for (let day = 0; day < 3_000 && full === null; day++) {
        let grown = 0
        for (const [i, { writtenADay, retentionDays }] of stored.entries()) {
          written[i]!.push(writtenADay)
          grown += writtenADay
          if (written[i]!.length > retentionDays) grown -= written[i]!.shift()!
        }
        if (grown > 0 && left <= grown) full = day + left / grown
        left -= grown
      }
      const told = daysUntilFull(free, stored.map(growthOf))
      if (full === null) assert.ok(told === null || told > 2_999, String(told))
      else assert.ok(told !== null && Math.abs(told - full) < 1e-6, `${told} is ${full}`)
    }),
    { seed: 11 }
  )
})
