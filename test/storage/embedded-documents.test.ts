import t from 'tap'
import { z } from 'zod'
import type { CrashPoint } from '../../storage/crash-points.ts'
import { defineDocument } from '../../storage/document-definition.ts'
import { Documents } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { documentConformance } from '../../storage/test/conformance.ts'
import { openForTest } from './embedded-under-test.ts'

const directory = t.testdir()

t.test('documents of the embedded store', async (t) =>
  documentConformance(t, openForTest(directory, 64 * 2 ** 20), 100)
)

t.test('documents of the embedded store, with nothing kept in memory', async (t) =>
  documentConformance(t, openForTest(directory, 0), 100)
)

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
