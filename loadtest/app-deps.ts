import { pino } from 'pino'
import { RateWindow } from '../src/access/rate-window.ts'
import { VENUE_IDS } from '../src/chain/venue-id.ts'
import { httpBounds } from '../src/kernel/http/bounds.ts'
import type { AppNeeds } from '../test/http/app-of.ts'
import { openFilesMax } from '../src/kernel/http/open-files.ts'
import { systemPorts } from '../src/ports.ts'
import { MethodTable } from '../src/rpc/methods.ts'
import { MirroredAccounts } from '../src/rpc/mirrored-accounts.ts'
import { Gateway } from '../src/rpc/rpc-gateway.ts'
import { SlotFloors } from '../src/rpc/slot-floors.ts'
import { DecodingReport } from '../src/ingest/decoding-report.ts'
import { aloneFleet } from '../test/fleet/sample-fleet.ts'
import { processMetrics } from '../test/products/process-metrics.ts'
import { PriorityFees } from '../src/transactions/priority-fees.ts'
import { CommitFeed } from '../src/kernel/feed/commit-feed.ts'
import { NameIndex } from '../src/data/name-index.ts'
import { processTurns, Turns } from '../src/kernel/work/turns.ts'
import { RankingHandle } from '../src/data/ranking-handle.ts'

/** Returns the dependencies of a service's HTTP side without a chain; `given` replaces the parts that it names. */
export function appDeps(given: Pick<AppNeeds, 'storage' | 'keys' | 'cash'> & Partial<AppNeeds>): AppNeeds {
  const decoding = new DecodingReport()
  return {
    limits: new RateWindow(10_000),
    turns: new Turns(processTurns(systemPorts.clock)),
    feed: new CommitFeed(),
    ranking: new RankingHandle(),
    names: new NameIndex({ bytesMax: 0, cash: given.cash }),
    stream: null,
    webhooks: null,
    transactions: null,
    fees: new PriorityFees(),
    accounts: null,
    rpc: rpcWithoutNode(given.storage),
    venues: VENUE_IDS,
    decoding,
    metrics: processMetrics(decoding),
    logger: pino({ level: 'silent' }),
    clock: systemPorts.clock,
    version: 'loadtest',
    errors: [],
    sourceKind: null,
    source: () => null,
    redisAway: () => false,
    fleet: aloneFleet(systemPorts.clock),
    roles: ['ingest', 'gateway', 'delivery'],
    isLoading: () => false,
    tree: () => {
      throw new Error('there are no processes')
    },
    draining: () => false,
    bounds: httpBounds(openFilesMax()),
    metricsKeyRequired: false,
    ...given
  }
}

function rpcWithoutNode(storage: AppNeeds['storage']): AppNeeds['rpc'] {
  const methods = new MethodTable()
  const accounts = new MirroredAccounts(storage, () => undefined, null)
  const floors = new SlotFloors()
  const gateway = new Gateway({
    methods,
    reads: null,
    floors,
    accounts,
    sends: null,
    clock: systemPorts.clock
  })
  return { gateway, methods, hasNode: false, nodes: null, finalized: null }
}
