import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { FORK_SLOTS } from '../../../actors/ingest/undo-history.ts'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { openScyllaStorage } from '../../../storage/scylla/store.ts'
import { testWithCql } from '../../servers/cql.ts'
import { portRows } from '../../storage/port-rows.ts'
import { ScyllaUnderTest } from '../../storage/scylla-keyspace.ts'
import { assertRetracted, closed, FOR_FORKS, gaps, run, withFork, without, withRoom } from './late-blocks.ts'
import type { Course, Run, Step } from './late-blocks.ts'
import { marketBlocks } from './market-blocks.ts'
import { lookAgain } from '../../look-again.ts'

const blocks = withRoom(await marketBlocks('blocks that come late', 90))
const last = blocks.at(-1)!

// The expected store never missed a block and has its own disk.
const directory = t.testdir()
const undisturbed = await run(() => openEmbeddedStorage({ directory }), { steps: blocks, node: blocks })
await closed(undisturbed, last)
t.teardown(() => undisturbed.end())

testWithCql(t, 'blocks that come late, and a fork that is lost, on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server, { flushBlocks: 8 })
  t.teardown(() => under.end())
  const on = async (t: Test, course: Omit<Course, 'node'>): Promise<Run> => {
    const one = await run(() => openScyllaStorage(under.options), { node: blocks, ...course })
    t.teardown(() => one.end())
    return one
  }
  /** Compares everything that either run published, in its own process and in a second one. */
  const assertAsUndisturbed = async (t: Test, { storage, published }: Run): Promise<void> => {
    const commits = [...undisturbed.published, ...published]
    const expected = await portRows(undisturbed.storage, commits)
    const another = await openScyllaStorage(under.options)
    t.teardown(() => another.close())
    for (const each of [storage, another]) {
      const found = await portRows(each, commits)
      const different = [...expected.keys()].filter(
        (question) => !isDeepStrictEqual(withoutRetractions(found.get(question)), expected.get(question))
      )
      t.strictSame(different, [], `all ${expected.size} answers are as if nothing had been missing`)
    }
  }

  t.test('gaps are closed once nodes have their blocks, as if they had never been', async (t) => {
    await under.clear()
    const late = new Set([blocks[22]!.slot, blocks[60]!.slot])
    const steps = without(blocks, [20, 25], [31, 31], [58, 62])
    const one = await on(t, { steps, has: (slot, asked) => !late.has(slot) || asked > 5 })
    await closed(one, last)
    // The store has come to the last of it before ingest says so.
    const said = (): number =>
      one.logged.filter((line) => line.includes('missing blocks were inserted')).length
    while (said() < 5) await lookAgain()
    t.ok(one.jumps() >= 5, 'who follows hears that what was published has changed')
    await assertAsUndisturbed(t, one)
    t.strictSame(await one.storage.history.after(null, 100), [], 'nothing is kept any longer')
  })

  t.test('a gap is closed after a restart, and while blocks still come', async (t) => {
    await under.clear()
    const steps = without(blocks, [30, 35])
    const half = steps.findIndex((step) => 'slot' in step && step.slot === blocks[50]!.slot)
    const first = await on(t, { steps: steps.slice(0, half), has: () => false })
    const isHalfway = async (): Promise<boolean> =>
      (await first.storage.blocks.head())?.slot === blocks[49]!.slot && first.asked.length > 2
    while (!(await isHalfway())) await lookAgain()
    t.equal((await gaps(first.storage)).length, 1)
    await first.end()
    let second: Run | null = null
    const isClosed = async (): Promise<boolean> =>
      second === null || (await gaps(second.storage)).length === 0
    const rest: Step[] = [...steps.slice(half), { until: isClosed }]
    second = await on(t, { steps: rest })
    await closed(second, last)
    await assertAsUndisturbed(t, { ...second, published: [...first.published, ...second.published] })
  })

  t.test('blocks of a fork that is lost are taken back before others come', async (t) => {
    for (const depth of [1, 9]) {
      await under.clear()
      const one = await on(t, { steps: withFork(blocks, depth), undoPolicy: FOR_FORKS })
      await closed(one, last)
      const lost = `${depth} blocks of a lost fork were removed`
      t.ok(one.logged.includes(lost), lost)
      t.equal(one.published.length, blocks.length + depth, 'its blocks were published')
      await assertAsUndisturbed(t, one)
      await assertRetracted(t, one)
      await one.listener.assertHeard(t, endOfEvents(last.slot))
      t.ok(one.listener.struck > 10 * depth, `${one.listener.struck} events are taken back`)
      const kept = await one.storage.history.after(null, FORK_SLOTS)
      t.strictSame(
        kept.map(({ block }) => block.slot),
        blocks.map(({ slot }) => slot)
      )
      await one.end()
    }
  })
})

/** Removes the log's retractions of a lost fork, which the undisturbed store does not have. */
const withoutRetractions = (answer: unknown): unknown =>
  Array.isArray(answer) ? answer.filter((event) => !String(event).includes('"event":"retract"')) : answer
