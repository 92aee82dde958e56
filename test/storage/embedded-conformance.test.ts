import t from 'tap'
import { archiveConformance, storageConformance } from '../../storage/test/conformance.ts'
import { openForTest } from './embedded-under-test.ts'

const directory = t.testdir()

t.test('the embedded store, with its usual memory', async (t) =>
  storageConformance(t, openForTest(directory))
)

t.test('the embedded store of an archive', async (t) =>
  archiveConformance(t, openForTest(directory, undefined, true))
)
