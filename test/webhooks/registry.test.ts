import t from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { testRegistry } from './registry-on-a-store.ts'

t.test('webhooks in the embedded store', async (t) => {
  const storage = await openEmbeddedStorage({ directory: t.testdir() })
  t.teardown(() => storage.close())
  await testRegistry(t, [storage.documents, storage.documents])
})
