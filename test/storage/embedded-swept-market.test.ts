import t from 'tap'
import type { ActivityHour } from '../../src/market/activity-rows.ts'
import { windowHours, windowOf } from '../../src/market/windows.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { marketBlocks } from '../actors/ingest/market-blocks.ts'
import { portRows } from './port-rows.ts'
import { stretched, sweptMarket } from './swept-market.ts'

const DAY = 86_400
/** Seconds a block, so that the market takes three days. */
const SECONDS_A_BLOCK = 3_700

/** Returns the answers of a whole store without expired rows. */
function retainedOf(
  answers: ReadonlyMap<string, unknown>,
  since: number,
  isRetained: (hour: number) => boolean
): ReadonlyMap<string, unknown> {
  return new Map(
    [...answers].map(([question, answer]) => {
      if (/^(trades|events) (of|by) /.test(question))
        return [question, (answer as { blockTime: number }[]).filter(({ blockTime }) => blockTime >= since)]
      if (question.startsWith('newest trades of'))
        return [question, (answer as { blockTime: number }[]).filter(({ blockTime }) => blockTime >= since)]
      if (question.startsWith('activity of'))
        return [question, (answer as ActivityHour[]).filter(({ hour }) => isRetained(hour))]
      return [question, answer]
    })
  )
}

/** Returns the rolling day of every mint and pool, and the ranking's hourly volumes. */
async function daysOf(storage: Storage, commits: readonly BlockCommit[]): Promise<unknown[]> {
  const { blockTime } = (await storage.blocks.head())!
  const owners = new Map(
    commits.flatMap(({ activity }) => activity.map((hour) => [`${hour.of} ${hour.owner.join()}`, hour]))
  )
  const windows = [...owners.values()].map(async ({ of, owner }) =>
    windowOf(await storage.activity.range(of, owner, windowHours(blockTime, DAY)), blockTime, DAY)
  )
  const hours = Array.from({ length: 26 }, (_, n) => blockTime - (blockTime % 3_600) - n * 3_600)
  const ranking = hours.map((hour) => storage.activity.mintsOfHour(hour, { limit: 10_000 }))
  return Promise.all([...windows, ...ranking])
}

t.test('a sweep leaves every read beyond the horizon as it is in a store that keeps all', async (t) => {
  const blocks = stretched(await marketBlocks('a market that is swept', 70), SECONDS_A_BLOCK)
  const { whole, swept, commits } = await sweptMarket(t, blocks, () => DAY)
  const horizon = (await swept.coverage.horizon())!
  t.equal(horizon.time, blocks.at(-1)!.blockTime - DAY)
  t.equal(await whole.coverage.horizon(), null)
  const [all, found] = [await portRows(whole, commits), await portRows(swept, commits)]
  const kept = retainedOf(all, horizon.time, (hour) => hour + 3_600 > horizon.time)
  t.strictSame(found, kept)
  const counts = [...all].map(([question, answer]) => [answer, found.get(question)] as const)
  const shorter = counts.filter(([a, b]) => Array.isArray(a) && a.length > (b as unknown[]).length)
  t.ok(shorter.length > 50, `${shorter.length} of ${counts.length} answers have lost rows`)
  const candles = [...found].filter(([question]) => question.startsWith('candles')).map(([, rows]) => rows)
  t.ok((candles as { ts: number }[][]).flat().some(({ ts }) => ts < horizon.time - DAY))
  t.strictSame(await daysOf(swept, commits), await daysOf(whole, commits), 'rolling days and the ranking')
})
