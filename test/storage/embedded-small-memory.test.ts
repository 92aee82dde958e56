import t from 'tap'
import type { Test } from 'tap'
import { testActivity } from '../../storage/test/conformance/activity.ts'
import { testAgreement } from '../../storage/test/conformance/agreement.ts'
import { testAmendments } from '../../storage/test/conformance/amendments.ts'
import { testCandles } from '../../storage/test/conformance/candles.ts'
import { testLaunches } from '../../storage/test/conformance/launches.ts'
import { testPairs } from '../../storage/test/conformance/pairs.ts'
import { testRegistry } from '../../storage/test/conformance/registry.ts'
import { testRows } from '../../storage/test/conformance/rows.ts'
import type { OpenForTest } from '../../storage/test/under-test.ts'
import { openForTest } from './embedded-under-test.ts'

const directory = t.testdir()

/** The tests whose reads go through caches; the rest of the suite does not depend on cache sizes. */
function cachedConformance(t: Test, open: OpenForTest): void {
  t.test('trades and pool events', (t) => testRows(t, open))
  t.test('candles', (t) => testCandles(t, open))
  t.test('launches', (t) => testLaunches(t, open))
  t.test('pairs and prices', (t) => testPairs(t, open))
  t.test('activity', (t) => testActivity(t, open))
  t.test('tokens, pools, curves and totals', (t) => testRegistry(t, open))
  t.test('random blocks agree with plain lists on every query', (t) => testAgreement(t, open))
}

t.test('the embedded store, with memory for a few pages', async (t) => {
  const open = openForTest(directory, 60_000)
  cachedConformance(t, open)
  t.test('amendments and kept blocks', (t) => testAmendments(t, open))
})

t.test('the embedded store, with nothing kept in memory', async (t) =>
  cachedConformance(t, openForTest(directory, 0))
)
