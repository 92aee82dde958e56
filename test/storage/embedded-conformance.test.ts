import t from 'tap'
import { storageConformance } from '../../storage/test/conformance.ts'
import { openForTest } from './embedded-under-test.ts'

const directory = t.testdir()

t.test('the embedded store, with its usual memory', async (t) =>
  storageConformance(t, openForTest(directory))
)
