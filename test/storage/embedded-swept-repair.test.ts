import t from 'tap'
import { INTERVALS, type Candle } from '../../src/market/rows.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import { foldCandlesAgain } from '../../src/store/verify/candle-repair.ts'
import { repairStore } from '../../storage/embedded/repair/repair.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { marketBlocks } from '../actors/ingest/market-blocks.ts'
import { damageRecords } from './embedded-directory.ts'
import { portRows } from './port-rows.ts'
import { stretched, sweptMarket } from './swept-market.ts'

const RETENTION_SECONDS = 200
const blocks = stretched(await marketBlocks('a swept market to be repaired', 70), 6)

/** Damages the records of some key prefixes, repairs the store without its source, and opens it. */
async function repaired(directory: string, letters: string) {
  for (const letter of letters) await damageRecords(directory, Buffer.from(letter))
  const outcome = await repairStore({
    directory,
    startOver: 'never',
    nowMs: 0,
    retentionSeconds: RETENTION_SECONDS,
    foldCandles: foldCandlesAgain
  })
  if (outcome.kind !== 'repaired') throw new Error('nothing was found to repair')
  return { outcome, storage: await openEmbeddedStorage({ directory }) }
}

async function candlesOf(storage: Storage, commits: readonly BlockCommit[]): Promise<Map<string, Candle>> {
  const candles = new Map<string, Candle>()
  for (const { mint, cash } of commits.flatMap(({ pairs }) => pairs))
    for (const interval of INTERVALS)
      for (const candle of await storage.candles.range(mint, cash, interval, {
        from: 0,
        to: 2 ** 32,
        limit: 1_000
      }))
        candles.set([mint.join(), cash.join(), interval, candle.ts].join(' '), candle)
  return candles
}

t.test('a repair puts a lost horizon where it was, and rows that were hidden stay so', async (t) => {
  const { swept, directory, commits } = await sweptMarket(t, blocks, () => RETENTION_SECONDS)
  const [horizon, rows] = [await swept.coverage.horizon(), await portRows(swept, commits)]
  await swept.close()
  const { outcome, storage } = await repaired(directory, 'R')
  t.teardown(() => storage.close())
  t.strictSame(outcome.losses, [])
  t.strictSame(await storage.coverage.horizon(), horizon)
  t.strictSame(await portRows(storage, commits), rows)
})

t.test('a repair folds lost candles beyond the horizon, and names those below it as lost', async (t) => {
  const { whole, swept, directory, commits } = await sweptMarket(t, blocks, () => RETENTION_SECONDS)
  const horizon = (await swept.coverage.horizon())!
  await swept.close()
  const { outcome, storage } = await repaired(directory, 'oR')
  t.teardown(() => storage.close())
  const to = splitCursor(horizon.cursor).slot - 1
  t.ok(outcome.losses.length > 0)
  for (const loss of outcome.losses) t.match(loss, { kind: 'candles', slots: { to } })
  t.match(outcome.gaps, [{ reason: 'damaged', from: blocks[0]!.slot, to }])
  const [stored, found] = [await candlesOf(whole, commits), await candlesOf(storage, commits)]
  for (const [address, candle] of found)
    t.strictSame(candle, stored.get(address), 'none is of some of its trades')
  const lost = [...stored.keys()].filter((address) => !found.has(address))
  const since = horizon.time + 60
  t.ok(lost.length > 0 && lost.every((address) => Number(address.split(' ').at(-1)) < since))
  t.ok([...found.values()].some(({ ts }) => ts >= since))
})
