import t from 'tap'
import { nodeIds } from '../../src/rpc/node-ids.ts'
import { NodeStatistics } from '../../src/rpc/node-statistics.ts'

t.test('the figures of a node are by method, and of the last minutes', async (t) => {
  const statistics = new NodeStatistics(0)
  for (let ms = 1; ms <= 100; ms++) statistics.answered('getBalance', ms, ms > 90, 1_000)
  statistics.failed('getBlock', 1_000)
  const [balance, block] = statistics.recent(2_000)
  t.match(balance, { method: 'getBalance', requests: 100, errors: 10 })
  t.ok(balance!.p50Ms! >= 50 && balance!.p50Ms! <= 60, String(balance!.p50Ms))
  t.ok(balance!.p99Ms! >= 99 && balance!.p99Ms! <= 118, String(balance!.p99Ms))
  t.strictSame(block, { method: 'getBlock', requests: 1, errors: 1, p50Ms: null, p99Ms: null })
  t.equal(statistics.recent(599_000).length, 2)
  t.equal(statistics.recent(601_000).length, 0)
  t.strictSame(statistics.totals(), [
    { method: 'getBalance', answered: 90, failed: 10 },
    { method: 'getBlock', answered: 0, failed: 1 }
  ])
})

t.test('a latency above the last bucket, and one of a moment, are counted', async (t) => {
  const statistics = new NodeStatistics(0)
  statistics.answered('getSlot', 0, false, 0)
  t.match(statistics.recent(0), [{ p50Ms: 1, p99Ms: 1 }])
  statistics.answered('getSlot', 1e9, false, 0)
  t.ok(statistics.recent(0)[0]!.p99Ms! >= 16_000)
})

t.test('the id of a node is its host, with a digest where two nodes share the host', async (t) => {
  const urls = ['https://a.example/secret-1', 'https://b.example:8899/?key=2', 'https://a.example/secret-3']
  const [a, b, c] = nodeIds([...urls, urls[0]!])
  t.match(a!.id, /^a\.example-[0-9a-f]{8}$/)
  t.equal(b!.id, 'b.example:8899')
  t.match(c!.id, /^a\.example-[0-9a-f]{8}$/)
  t.not(a!.id, c!.id)
  t.equal(nodeIds([...urls, urls[0]!]).length, 3)
  t.equal(nodeIds([urls[0]!])[0]!.digest, a!.digest)
})
