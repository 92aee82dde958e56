import { Registry } from 'prom-client'
import t from 'tap'
import { addSourceMetrics } from '../../src/ingest/source-metrics.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'

t.test('a scrape shows the state of the source and of each node, as it is then', async (t) => {
  const registry = new Registry()
  let status: SourceStatus | null = null
  addSourceMetrics(registry, () => status)
  const samples = async () =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  t.same(await samples(), [], 'nothing without a source')
  const node = { archive: false, slot: 1, lag: 0, reason: null }
  status = {
    state: 'advancing',
    reason: null,
    headSlot: 1,
    fork: null,
    nodes: [
      { ...node, name: 'a:1', state: 'healthy' },
      { ...node, name: 'b:2', state: 'down' }
    ]
  }
  t.same(
    (await samples()).filter((line) => line.endsWith(' 1')),
    [
      'millrace_source_state{state="advancing"} 1',
      'millrace_source_node_state{node="a:1",state="healthy"} 1',
      'millrace_source_node_state{node="b:2",state="down"} 1'
    ]
  )
  t.equal((await samples()).length, 6 + 2 * 5)
  status = { ...status, state: 'waiting', nodes: [] }
  const waiting = await samples()
  t.ok(waiting.includes('millrace_source_state{state="waiting"} 1'))
  t.ok(waiting.includes('millrace_source_state{state="advancing"} 0'))
  t.notMatch(waiting.join(), 'node')
})
