import t from 'tap'
import { documentConformance } from '../../storage/test/conformance.ts'
import { openForTest } from './embedded-under-test.ts'

const directory = t.testdir()

t.test('documents of the embedded store', async (t) =>
  documentConformance(t, openForTest(directory, 64 * 2 ** 20), 100)
)

t.test('documents of the embedded store, with nothing kept in memory', async (t) =>
  documentConformance(t, openForTest(directory, 0), 100)
)
