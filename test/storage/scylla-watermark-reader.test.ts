import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import type { CqlClient, CqlRow } from '../../storage/scylla/client.ts'
import { WatermarkReader } from '../../storage/scylla/watermark-reader.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { Snapshot, Visibility } from '../../storage/scylla/visibility.ts'
import { BlockWriter } from '../../storage/scylla/writer.ts'
import { testWithCql } from '../servers/cql.ts'
import { newKeyspace } from './scylla-writers.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const LOST = { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE, detail: /another process writes now/ }

t.test('looks at the watermarks', (t) => {
  /** A client whose reads are answered, or refused, when the test says so. */
  function waiting() {
    const reads: PromiseWithResolvers<CqlRow[]>[] = []
    const read = (): Promise<CqlRow[]> => {
      const answer = Promise.withResolvers<CqlRow[]>()
      reads.push(answer)
      return answer.promise
    }
    const client = { read, readEach: () => Promise.resolve([]) } as unknown as CqlClient
    const reader = new WatermarkReader(client, new Visibility())
    return { reads, reader }
  }

  t.test('those who ask during a read that fails are told at once, and the next ask again', async (t) => {
    const { reads, reader } = waiting()
    const asked = [reader.refresh(), reader.refresh(), reader.refresh()]
    const failure = new Error('no node answers')
    reads[0]!.reject(failure)
    await Promise.all(asked.map((look) => t.rejects(look, failure)))
    t.equal(reads.length, 1, 'nobody waits for a second read')
    const later = [reader.refresh(), reader.refresh()]
    t.equal(reads.length, 2)
    reads[1]!.resolve([])
    await later[0]
    await turn()
    t.equal(reads.length, 3, 'who asked during a read has the one after it')
    reads[2]!.resolve([])
    await later[1]
  })

  t.test('those who ask during a read get what a later one finds', async (t) => {
    const { reads, reader } = waiting()
    let done = 0
    const asked = [1, 2, 3].map(() => reader.refresh().then(() => done++))
    reads[0]!.resolve([])
    await asked[0]
    await turn()
    t.equal(done, 1)
    reads[1]!.resolve([])
    await Promise.all(asked)
    t.equal(reads.length, 2)
  })
  t.end()
})

t.test('a state of an epoch that has ended does not come back', (t) => {
  const visibility = new Visibility()
  const ended = new Map([[2, 70]])
  const committed = new Snapshot({ epoch: 3, number: 0 }, null, ended)
  visibility.advance({ committed, flushed: committed })
  visibility.advance({ committed, flushed: new Snapshot({ epoch: 2, number: 70 }, null, new Map()) })
  t.equal(visibility.snapshot.epoch, 3)
  t.end()
})

testWithCql(t, 'a writer whose flush is done while another claims', async (t: Test, server) => {
  const { connect, options } = await newKeyspace(t, server)
  const other = await openScyllaStorage(options)
  t.teardown(() => other.close())
  const client = await connect()
  const visibility = new Visibility()
  const reader = new WatermarkReader(client, visibility)
  const refresh = (): Promise<void> => reader.refresh()
  const writer = new BlockWriter(
    {
      ...{ client, visibility, refresh, isArchive: false },
      ...{ retentionSeconds: null, logTtlSeconds: null, indexBytesMax: 2 ** 20 }
    },
    {
      stage: () => Promise.resolve(),
      reached: () => undefined,
      watermarkReader: reader,
      committedBytesMax: 1,
      flushBlocks: 1
    }
  )
  t.teardown(() => writer.close())
  const claimed = Promise.withResolvers<void>()
  const conditional = client.conditional.bind(client)
  client.conditional = async (statements) => {
    const answer = await conditional(statements)
    if (!statements[0]!.statement.includes('flushed_head')) return answer
    // The flush is visible. Before its writer learns that, another process claims, and a query of this process sees the
    // claim.
    await other.blocks.claim(2)
    await refresh()
    claimed.resolve()
    return answer
  }
  await writer.claim(1)
  t.equal(await writer.commit(emptyBlock(0)), true)
  await claimed.promise
  await t.rejects(writer.commit(emptyBlock(1)), LOST, 'it knows that it has lost its claim')
  await other.blocks.commit(emptyBlock(1))
  await refresh()
  t.equal(visibility.committed.head?.slot, emptyBlock(1).slot.slot, 'it sees what the other commits')
  t.strictSame([visibility.snapshot.newest, visibility.memtable.blocks.length], [1, 1])
})
