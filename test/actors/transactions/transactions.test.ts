import { Registry } from 'prom-client'
import t from 'tap'
import { transactions } from '../../../actors/transactions/transactions.ts'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { soloCoordination } from '../../../src/store/coordination.ts'
import { TenantEvents } from '../../../src/stream/tenant-events.ts'
import { transactionMetrics } from '../../../src/transactions/metrics.ts'
import { LocalTracking } from '../../../src/transactions/local-tracking.ts'
import { SUBMISSION } from '../../../src/transactions/submission.ts'
import { UnsettledBatches } from '../../../src/transactions/unsettled-batches.ts'
import { Documents } from '../../../storage/documents.ts'
import { virtualClock } from '../../virtual-time.ts'
import { MemoryDocuments } from '../webhooks/memory-documents.ts'
import { FakeChain, FakeNode } from './fake-chain.ts'
import { sampleSubmission } from './tracking-world.ts'

const silent = { info: () => undefined, warn: () => undefined }

t.test('an end while the store is away reports no fault of what it interrupts', async (t) => {
  for (const isKilled of [false, true]) {
    const clock = virtualClock()
    const documents = new MemoryDocuments()
    const chain = new FakeChain(clock)
    const local = new LocalTracking()
    const faults: unknown[] = []
    const [draining, signal] = [new AbortController(), new AbortController()]
    const run = transactions(
      {
        clock,
        random: () => 0.5,
        logger: silent,
        metrics: transactionMetrics(new Registry()),
        local,
        sightings: chain.sightings,
        tenantEvents: new TenantEvents(),
        feed: { follow: () => () => undefined },
        leaders: null,
        retentionMs: null,
        changesTtlMs: null
      },
      soloCoordination
    )
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= 50) {
        clock.increment(50)
        for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const hub = { head: endOfEvents(1_000) }
    const running = run({
      input: {
        storage: { documents, isShared: false },
        channels: { hub, changes: { unsettled: new UnsettledBatches() } } as never,
        nodes: new FakeNode(chain)
      },
      draining: draining.signal,
      signal: signal.signal,
      ready: () => undefined,
      gauge: () => undefined,
      supervises: () => undefined,
      show: () => undefined,
      report: (fault) => faults.push(fault)
    })
    await pass(100)
    const stored = await new Documents(documents, SUBMISSION).insert(sampleSubmission({ signature: 'a' }))
    if (!stored.ok) throw new Error(stored.reason)
    t.equal(local.served!.begin(stored.stored), true)
    documents.isAway = true
    await pass(3_000)
    t.match(local.served!.progress('acme', 'a'), { state: 'sent', rebroadcasts: 1 })
    if (isKilled) signal.abort()
    draining.abort()
    await pass(6_000)
    await running
    t.same(faults, [])
  }
})
