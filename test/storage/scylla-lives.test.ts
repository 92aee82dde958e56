import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { SCYLLA_CRASH_POINTS } from '../../storage/crash-points.ts'
import type { ScyllaCrashPoint } from '../../storage/crash-points.ts'
import { Choices } from '../../storage/test/choices.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { IS_LONG } from '../random-runs.ts'
import { testWithCql } from '../servers/cql.ts'
import { journalAfter } from './journal-after.ts'
import { LifeStore } from './scylla-life-store.ts'
import { Life } from './scylla-life.ts'
import { modelOf, seriesOf } from './scylla-series.ts'

/** Number of the commit in a life at which the kill comes. */
const NTH = 3
/** Number of blocks that are submitted together, in tests of that. */
const TOGETHER = 3
/** Number of trades whose block takes two pieces of the journal. */
const LARGE = 3_000
const RANDOM_KILLS = IS_LONG ? 10 : 2
/** Milliseconds after the watermark was sent at which the kill comes, so that it also hits a watermark in flight. */
const DECIDING_MS = IS_LONG ? [1, 2, 4, 8] : [2]
const LOST = 'STORAGE_UNAVAILABLE: another process writes now: this one has lost its claim to write blocks'

type CommitPoint = Extract<ScyllaCrashPoint, `commit.${string}`>
const isOfCommit = (point: string): point is CommitPoint => point.startsWith('commit.')
const FLUSH_POINTS = Object.keys(SCYLLA_CRASH_POINTS).filter(
  (point): point is Extract<ScyllaCrashPoint, `flush.${string}`> => point.startsWith('flush.')
)
const COMMIT_POINTS = Object.keys(SCYLLA_CRASH_POINTS).filter(isOfCommit)
/** Points before, at and after the decision of a watermark: the rows of several blocks meet it there. */
const SHARED_POINTS = ['commit.journalled', 'commit.deciding', 'commit.visible'] as const
/** Needs a large block, which makes all later answers large: tested last. */
const JOURNALLING: CommitPoint = 'commit.journalling'

testWithCql(t, 'one store through the lives of many writers', async (t, server) => {
  const store = await LifeStore.make(server)
  t.teardown(() => store.end())

  t.test(`killed at schema.applying: ${SCYLLA_CRASH_POINTS['schema.applying']}`, async (t) => {
    const life = store.life(t, { at: 'schema.applying', nth: 1 })
    t.equal(await life.ended, 'SIGKILL')
    t.strictSame(life.lines, ['killed at schema.applying'], 'the point fired')
    const { rows } = await store.raw.execute(
      `SELECT table_name FROM system_schema.tables WHERE keyspace_name = '${store.keyspace}'`
    )
    t.ok(rows.length > 5 && rows.length < 25, `${rows.length} tables are there`)
    const next = store.life(t)
    t.equal(await next.ended, null)
    t.strictSame([next.lines[0], next.lines.at(-1)], ['head none', 'done'])
    t.equal(await store.found(), next.lastWritten)
    await store.assertFoundSame(t)
  })

  t.test(`killed at claim.taken: ${SCYLLA_CRASH_POINTS['claim.taken']}`, async (t) => {
    const [epoch, { last }] = [await store.epoch(), store]
    const life = store.life(t, { at: 'claim.taken', nth: 1 })
    t.equal(await life.ended, 'SIGKILL')
    t.strictSame(life.lines, ['killed at claim.taken'], 'the point fired')
    t.equal(await store.epoch(), epoch + 1, 'the claim is stored')
    t.equal(await store.found(), last)
    const next = store.life(t)
    t.equal(await next.ended, null)
    t.equal(await store.epoch(), epoch + 2)
    t.equal(await store.found(), next.lastWritten)
    await store.assertFoundSame(t)
  })

  const testKilledAt = (point: CommitPoint): void =>
    void t.test(`killed at ${point}: ${SCYLLA_CRASH_POINTS[point]}`, async (t) => {
      const interrupted = store.last + NTH
      if (point === JOURNALLING) store.enlarge(interrupted, LARGE)
      const life = store.life(t, { at: point, nth: NTH })
      t.equal(await life.ended, 'SIGKILL')
      t.equal(life.lines.at(-1), `killed at ${point}`, 'the point fired')
      t.equal(life.lastWritten, interrupted - 1)
      await store.found()
      await store.assertSeenSame(t)
      const { last } = store
      const isDone = point === 'commit.visible' || point === 'commit.published'
      if (point === 'commit.deciding') t.ok(last === interrupted || last === interrupted - 1)
      else t.equal(last, isDone ? interrupted : interrupted - 1, isDone ? 'it is there' : 'it is absent')
      await assertLeftBehind(t, store, point, last === interrupted)
      const next = store.life(t)
      t.equal(await next.ended, null)
      t.equal(next.lines[1], `block ${last + 1}`, 'who claims next goes on with what is absent')
      t.equal(await store.found(), next.lastWritten)
      await store.assertFoundSame(t)
    })
  for (const point of COMMIT_POINTS) if (point !== JOURNALLING) testKilledAt(point)

  for (const point of IS_LONG ? COMMIT_POINTS : SHARED_POINTS)
    t.test(
      `killed at ${point} of blocks that share a watermark: all of them are there, or none`,
      async (t) => {
        const first = store.last + 1
        // Groups are counted from the very first block, and stored blocks are never in a group with new ones.
        const next = (Math.floor(first / TOGETHER) + 1) * TOGETHER
        const life = store.life(t, { at: point, nth: 2, together: TOGETHER })
        t.equal(await life.ended, 'SIGKILL')
        t.equal(life.lines.at(-1), `killed at ${point}`, 'the point fired')
        t.equal(life.lastWritten, next - 1)
        await store.found()
        await store.assertSeenSame(t)
        const { last } = store
        const end = Math.min(next + TOGETHER, store.lifeEnd(first)) - 1
        t.ok(end > next, `${end - next + 1} blocks share a watermark`)
        const isDone = point === 'commit.visible' || point === 'commit.published'
        if (point === 'commit.deciding') t.ok(last === end || last === next - 1)
        else t.equal(last, isDone ? end : next - 1, isDone ? 'they are there' : 'they are absent')
        await assertLeftBehind(t, store, point, last === end)
        const after = store.life(t, { at: null, nth: 0, together: TOGETHER })
        t.equal(await after.ended, null)
        t.equal(after.lines[1], `block ${last + 1}`, 'who claims next goes on with what is absent')
        t.equal(await store.found(), after.lastWritten)
        await store.assertFoundSame(t)
      }
    )

  for (const point of FLUSH_POINTS)
    t.test(`killed at ${point}: ${SCYLLA_CRASH_POINTS[point]}`, async (t) => {
      // The second flush of a life replaces rows of the first.
      const life = store.life(t, { at: point, nth: 2 }, 2)
      t.equal(await life.ended, 'SIGKILL')
      t.equal(life.lines.at(-1), `killed at ${point}`, 'the point fired')
      await store.found()
      await store.assertSeenSame(t)
      const { last } = store
      t.ok(last === life.lastWritten || last === life.lastWritten! + 1, 'no block is lost')
      const epoch = await store.epoch()
      const { committed, flushed } = await store.watermarks(epoch)
      const { slots, trades, totals } = await store.leftBehind(epoch)
      const isThere = point === 'flush.visible' || point === 'flush.published'
      if (point === 'flush.staged') t.equal(slots + trades + totals, 0, 'none of it is written')
      if (point === 'flush.writing' || point === 'flush.written')
        t.ok(slots + trades + totals > 0, 'some of it is')
      if (!isThere && point !== 'flush.deciding')
        t.ok(flushed < committed, `${committed - flushed} blocks are not in the tables`)
      const next = store.life(t, undefined, 2)
      t.equal(await next.ended, null)
      t.equal(next.lines[1], `block ${last + 1}`)
      t.equal(await store.found(), next.lastWritten)
      const after = await store.watermarks(await store.epoch())
      t.equal(after.flushed, after.committed, 'all blocks are in the tables')
      await store.assertSeenSame(t)
      await store.assertFoundSame(t)
    })

  t.test('killed while the watermark travels, a block is there whole or not at all', async (t) => {
    const outcomes: string[] = []
    for (const afterMs of DECIDING_MS) {
      const interrupted = store.last + NTH
      const life = store.life(t, { at: 'commit.deciding', nth: NTH, afterMs })
      t.equal(await life.ended, 'SIGKILL')
      t.ok(life.lines.includes('killed at commit.deciding'), 'the point fired')
      await store.found()
      await store.assertFoundSame(t)
      const { last } = store
      t.ok(last >= Math.max(interrupted - 1, life.lastWritten!), 'whose writer had its answer is there')
      outcomes.push(`${last >= interrupted ? 'there' : 'absent'} after ${afterMs} ms`)
    }
    t.comment(outcomes.join(', '))
  })

  t.test(`killed at ${RANDOM_KILLS} random instants, one after another`, async (t) => {
    const choices = new Choices(4_711)
    for (let kill = 0; kill < RANDOM_KILLS; kill++) {
      const life = store.life(t)
      await life.wrote(1 + choices.below(3))
      await delay(choices.fraction() * 30)
      life.kill()
      t.equal(await life.ended, 'SIGKILL')
      const last = await store.found()
      t.ok(last === life.lastWritten || last === life.lastWritten! + 1, `block ${last} is the last`)
    }
    await store.assertFoundSame(t)
  })

  t.test(`killed at close.drained: ${SCYLLA_CRASH_POINTS['close.drained']}`, async (t) => {
    const life = store.life(t, { at: 'close.drained', nth: 1 })
    t.equal(await life.ended, 'SIGKILL')
    t.equal(life.lines.at(-1), 'killed at close.drained', 'the point fired')
    t.equal(await store.found(), life.lastWritten)
    await store.assertFoundSame(t)
  })

  for (const point of ['staged', 'journalled', 'deciding'] as const)
    t.test(
      `stopped at commit.${point} while another takes over, and woken: it is refused, and its rows are never seen`,
      async (t) => {
        const rival = await store.open(t)
        const [token, later] = store.tokens()
        // Its first block is as expected; the second, in which it is stopped, has rows that must stay invisible.
        const [first, second] = [store.last + 1, store.last + 2]
        const series = [...store.series(second), { seed: 99 }, { seed: 99 }]
        const sees = store.series(second + 3)
        const at = `commit.${point}` as const
        const life = new Life(t, { ...store.plan(series), sees, token, at, nth: 2, signal: 'SIGSTOP' })
        await life.says(`stopped at ${at}`)
        t.equal(life.lastWritten, first)
        const epoch = await store.epoch()

        t.strictSame(await rival.blocks.claim(later), store.block(first).slot)
        for (const block of seriesOf(sees).slice(second)) t.equal(await rival.blocks.commit(block), true)
        await assertSame(rival, modelOf(sees))

        life.wake()
        t.equal(await life.ended, null)
        t.strictSame(life.lines.slice(life.lines.indexOf(`stopped at ${at}`) + 1), [
          `refused block ${second}: ${LOST}`,
          `refused the next block: ${LOST}`,
          `refused claim: ${LOST}`,
          'sees the same',
          'done'
        ])
        const { slots, totals, journal } = await store.leftBehind(epoch)
        t.strictSame([slots, totals, journal], [0, 0, 1], 'what it wrote is there')
        t.equal(await rival.blocks.commit(store.block(second + 3)), true, 'the other goes on')
        t.equal(await store.found(), second + 3)
        await store.assertSeenSame(t)
      }
    )

  testKilledAt(JOURNALLING)

  t.test('after all of it the journal has each block once', async (t) => {
    const reader = await store.open(t)
    const blocks = await journalAfter(reader, null, 1_000)
    assert.deepStrictEqual(blocks, seriesOf(store.series(store.last + 1)))
    t.pass(`${store.last + 1} blocks`)
  })
})

/** Asserts which rows a writer left that died at a point, within the block in progress. */
async function assertLeftBehind(
  t: Test,
  store: LifeStore,
  point: CommitPoint,
  isThere: boolean
): Promise<void> {
  const { slots, trades, totals, journal } = await store.leftBehind(await store.epoch())
  t.equal(slots + trades + totals, 0, 'the tables have nothing of it')
  if (isThere || point === 'commit.staged') t.equal(journal, 0, 'nothing is left behind')
  else t.ok(journal > 0, `the journal has ${journal} pieces`)
}
