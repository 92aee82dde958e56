import t from 'tap'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { testWithCql } from '../servers/cql.ts'
import { systemPorts } from '../../src/ports.ts'
import { ShiftedClock } from '../../storage/test/shifted-clock.ts'
import { lendKeyspace } from './scylla-keyspace.ts'

testWithCql(t, 'questions and answers of processes that share a store', async (t, server) => {
  const options = await lendKeyspace(t, server)
  const clock = new ShiftedClock()
  const [one, two] = await Promise.all([
    openScyllaStorage({ ...options, ports: { ...systemPorts, clock } }),
    openScyllaStorage(options)
  ])
  t.teardown(() => Promise.all([one.close(), two.close()]))
  const [asker, holder] = [one.questions!, two.questions!]
  await asker.put({ id: 's-1-0-1-a', text: '{"kind":"search","text":"größe"}' })
  await asker.put({ id: 's-1-0-1-a', text: '{"kind":"search","text":"größe"}' })
  await asker.put({ id: 'r-1-0-1-b', text: 'another' })
  t.strictSame(
    (await holder.recent()).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    [
      { id: 'r-1-0-1-b', text: 'another' },
      { id: 's-1-0-1-a', text: '{"kind":"search","text":"größe"}' }
    ],
    'a repeated question is one'
  )
  clock.advance(1_000)
  await asker.put({ id: 'r-2-0-2-b', text: 'of a clock that is ahead' })
  t.ok((await holder.recent()).some(({ id }) => id === 'r-2-0-2-b'))
  t.equal(await asker.read('s-1-0-1-a'), null)
  const text = JSON.stringify({ hits: ['x'.repeat(64_000)] })
  await holder.answer('s-1-0-1-a', text)
  t.equal(await asker.read('s-1-0-1-a'), text)
  t.equal(await asker.read('r-1-0-1-b'), null)
})
