import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { z } from 'zod'
import type { CrashPoint } from '../../storage/crash-points.ts'
import { UnknownOutcome } from '../../src/kernel/errors.ts'
import { defineDocument } from '../../storage/document-definition.ts'
import { Documents } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { documentConformance } from '../../storage/test/conformance.ts'
import { virtualClock } from '../virtual-time.ts'
import { openForTest } from './embedded-under-test.ts'

const directory = t.testdir()

t.test('documents of the embedded store', async (t) =>
  documentConformance(t, openForTest(directory, 64 * 2 ** 20), 100)
)

t.test('documents of the embedded store, with nothing kept in memory', async (t) =>
  documentConformance(t, openForTest(directory, 0), 100)
)

const NOTE = defineDocument({
  kind: 'note',
  schema: z.object({ name: z.string() }),
  partition: () => 'notes',
  key: ({ name }) => [name],
  indexes: {}
})

t.test('documents that come together share a write; one that may wait shares the next one', async (t) => {
  const clock = virtualClock()
  let writes = 0
  const storage = await openEmbeddedStorage({
    directory: join(directory, randomUUID()),
    hotBytesMax: 2 ** 20,
    clock,
    reached: (point) => void (writes += point === 'documents.durable' ? 1 : 0)
  })
  t.teardown(() => storage.close())
  const notes = new Documents(storage.documents, NOTE)
  // The first group searches for expired documents, and includes those that arrive meanwhile.
  await notes.insert({ name: 'before' })
  writes = 0
  const first = notes.insert({ name: 'first' })
  // Like a request that is read after the first one, in one iteration of the event loop.
  for (let step = 0; step < 100; step++) await Promise.resolve()
  await Promise.all([first, notes.insert({ name: 'second' })])
  t.equal(writes, 1)

  const waiting = notes.insert({ name: 'waiting' }, { isSoon: true })
  for (let step = 0; step < 20; step++) await turn()
  t.equal(await notes.get('notes', ['waiting']), null)
  await Promise.all([waiting, notes.insert({ name: 'urgent' })])
  t.equal(writes, 2)

  const alone = notes.insert({ name: 'alone' }, { isSoon: true })
  clock.increment(19)
  for (let step = 0; step < 20; step++) await turn()
  t.equal(writes, 2)
  clock.increment(1)
  t.ok((await alone).ok)
  t.equal(writes, 3)
})

t.test(
  'scratch documents are there for readers and after a restart, without a sync and in no cache',
  async (t) => {
    const points: CrashPoint[] = []
    const place = t.testdir()
    const options = { directory: place, reached: (point: CrashPoint) => void points.push(point) }
    const schema = z.object({ id: z.string() })
    const of = (kind: string, isScratch: boolean) =>
      defineDocument({
        kind,
        schema,
        partition: () => 'all',
        key: ({ id }) => [id],
        ttlMs: 60_000,
        isScratch
      })
    const storage = await openEmbeddedStorage(options)
    const scratch = new Documents(storage.documents, of('draft', true))
    const lasting = new Documents(storage.documents, of('letter', false))
    const before = storage.recordCache.bytes
    const written = (): CrashPoint[] => points.filter((point) => point.startsWith('documents'))
    t.match(await scratch.insert({ id: 'a' }), { ok: true })
    t.equal(storage.recordCache.bytes, before)
    t.match(await scratch.insert({ id: 'a' }), { ok: false, reason: 'exists' })
    t.same(written(), [], 'nothing was synced')
    await Promise.all([scratch.insert({ id: 'b' }), lasting.insert({ id: 'c' })])
    t.same(written(), ['documents.staged', 'documents.writing', 'documents.durable'], 'with others it is')
    await storage.close()
    const again = await openEmbeddedStorage(options)
    t.match(await new Documents(again.documents, of('draft', true)).get('all', ['a']), { value: { id: 'a' } })
    await again.close()
  }
)

t.test('a write that fails on the disk may have been done, and later ones are not', async (t) => {
  let isFull = true
  const storage = await openEmbeddedStorage({
    directory: join(directory, randomUUID()),
    reached: (point) => {
      if (point === 'documents.writing' && isFull) throw new Error('no space left')
    }
  })
  t.teardown(() => storage.close())
  const notes = new Documents(storage.documents, NOTE)
  const first: unknown = await notes.insert({ name: 'first' }).catch((error: unknown) => error)
  t.ok(first instanceof UnknownOutcome, String(first))
  isFull = false
  const later: unknown = await notes.insert({ name: 'later' }).catch((error: unknown) => error)
  t.match(later, { code: 'STORAGE_UNAVAILABLE' })
  t.notOk(later instanceof UnknownOutcome, 'the store is to be opened again first')
})
