import { Registry } from 'prom-client'
import t from 'tap'
import { DECODING } from '../../src/ingest/bodies/decoding.ts'
import type { Note } from '../../src/chain/emitter.ts'
import { DecodingReport } from '../../src/ingest/decoding-report.ts'
import { addDecodingMetrics } from '../../src/ingest/decoding-metrics.ts'

const PLACE = { venue: 'pumpswap', ixIndex: 0, innerIxIndex: null, detail: '' } as const

t.test('moved vaults are held back by venue; donated and seized tokens are counted apart', async (t) => {
  const report = new DecodingReport()
  const registry = new Registry()
  addDecodingMetrics(registry, report)
  const notes: Note[] = [
    { ...PLACE, kind: 'missing', reason: 'vault-moved' },
    { ...PLACE, kind: 'vault-transfer', transfer: 'donated' },
    { ...PLACE, kind: 'vault-transfer', transfer: 'donated' },
    { ...PLACE, kind: 'vault-transfer', transfer: 'seized' }
  ]
  report.count([], notes)
  const { venues } = DECODING.parse({ venues: report.body() })
  t.match(venues['pumpswap'], {
    missing: { 'vault-moved': 1 },
    missing_total: 1,
    vault_transfers: { donated: 2, seized: 1 }
  })
  t.match(venues['phoenix'], { missing: {}, missing_total: 0, vault_transfers: { donated: 0, seized: 0 } })
  const lines = (await registry.metrics()).split('\n').filter((line) => line.includes('pumpswap'))
  t.ok(lines.includes('millrace_missing{venue="pumpswap",reason="vault-moved"} 1'))
  t.ok(lines.includes('millrace_vault_transfers{venue="pumpswap",transfer="donated"} 2'))
  t.ok(lines.includes('millrace_vault_transfers{venue="pumpswap",transfer="seized"} 1'))
})
