import t from 'tap'
import { testWithCql } from '../servers/cql.ts'
import { testActivity } from '../../storage/test/conformance/activity.ts'
import { testAgreement } from '../../storage/test/conformance/agreement.ts'
import { testCandles } from '../../storage/test/conformance/candles.ts'
import { testDurability } from '../../storage/test/conformance/durability.ts'
import { testLaunches } from '../../storage/test/conformance/launches.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

for (const flushBlocks of [1, 3, 1_000])
  testWithCql(t, `a store whose tables get ${flushBlocks} blocks at a time`, async (t, server) => {
    const under = await ScyllaUnderTest.make(server, { flushBlocks })
    t.teardown(() => under.end())
    t.test('random blocks agree with plain lists', (t) => testAgreement(t, (t) => under.open(t)))
    t.test('durability', (t) => testDurability(t, (t) => under.open(t)))
    t.test('candles', (t) => testCandles(t, (t) => under.open(t)))
    t.test('launches', (t) => testLaunches(t, (t) => under.open(t)))
    t.test('activity', (t) => testActivity(t, (t) => under.open(t)))
  })
