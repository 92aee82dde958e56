import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { openScyllaStorage } from '../../../storage/scylla/store.ts'
import { testWithCql } from '../../servers/cql.ts'
import { portRows } from '../../storage/port-rows.ts'
import { ScyllaUnderTest } from '../../storage/scylla-keyspace.ts'
import { assertResumable, channelsIn } from './resuming.ts'
import { chain, forkAfter, openedOn, rollbackAfter, sourced } from './put-back-chain.ts'

// The expected store has seen only the last course of the chain, and has its own disk.
const undisturbed = await openedOn(await openEmbeddedStorage({ directory: t.testdir() }))
for (const block of chain) await undisturbed.ingester.ingest(sourced(block))
t.teardown(() => undisturbed.storage.close())

/** Logs that only a store with a lost fork has: retractions, and the cursors at which later events were sent. */
const BESIDE = new Set(['log of retractions', 'log of moves'])

testWithCql(t, 'a chain that was put back, on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server, { flushBlocks: 8 })
  t.teardown(() => under.end())
  const courses = [
    [[20, 1]],
    [
      [12, 25],
      [36, 2],
      [33, 9]
    ]
  ] as const
  for (const [nth, forks] of courses.entries()) {
    t.test(`${forks.length} rollbacks leave what the last course alone would have left`, async (t) => {
      await under.clear()
      const one = await openedOn(await openScyllaStorage(under.options))
      t.teardown(() => one.storage.close())
      let at = -1
      for (const [fork, [common, length]] of forks.entries()) {
        for (const block of chain.slice(at + 1, common + 1)) await one.ingester.ingest(sourced(block))
        const lost = forkAfter(common, length, ` of fork ${nth}.${fork}`)
        for (const block of lost) await one.ingester.ingest(sourced(block))
        const { block, next } = rollbackAfter(common, lost.at(-1)!.slot)
        await one.ingester.ingest(block)
        at = Math.max(at, next)
      }
      for (const block of chain.slice(at + 1)) await one.ingester.ingest(sourced(block))
      await one.listener.assertHeard(t, endOfEvents(chain.at(-1)!.slot))
      t.ok(one.listener.struck > 0, `${one.listener.struck} events were taken back from a live reader`)

      const commits = [...undisturbed.published, ...one.published]
      const expected = await portRows(undisturbed.storage, commits)
      // Another process knows only the tables and the journal.
      const another = await openScyllaStorage(under.options)
      t.teardown(() => another.close())
      for (const storage of [one.storage, another]) {
        const found = await portRows(storage, commits)
        const different = [...expected.keys()].filter(
          (question) =>
            !BESIDE.has(question) && !isDeepStrictEqual(found.get(question), expected.get(question))
        )
        t.strictSame(different, [], `all ${expected.size} answers are as if the fork had never been`)
      }
      const byKind = Map.groupBy(channelsIn(one.published), ({ kind }) => kind)
      const channels = [...byKind.values()].flatMap((ofKind) => ofKind.slice(0, 4))
      const end = endOfEvents(chain.at(-1)!.slot)
      const sent = await assertResumable(t, one.storage, channels, end, 2)
      t.ok(sent.some(({ channel, text }) => channel.startsWith('wallet:') && text.includes('"retract"')))
      t.strictSame(await assertResumable(t, another, channels, end, 0), sent, 'every process sends the same')
    })
  }
})
