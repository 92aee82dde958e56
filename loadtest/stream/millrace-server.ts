/**
 * Runs the stream as the service does, behind its HTTP side, without a chain: the parent process decides which block is
 * committed next. Arguments: the number of connections that need keys; then the store, which is the directory of an embedded
 * one, or `cql:` and the port of a CQL server on 127.0.0.1. Then come the number of past blocks to store first, their number
 * of tokens, and the trades of a token in a block. The n-th token trades in every n-th slot.
 */
import { Horizon } from '../../actors/stream/horizon.ts'
import { Replays } from '../../actors/stream/replays.ts'
import { Tenants } from '../../actors/stream/tenants.ts'
import { retryWhileUnavailable } from '../../actors/storage/retry.ts'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import { RateWindow } from '../../src/access/rate-window.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { buildApp } from '../../src/edge/routes/app.ts'
import { systemPorts } from '../../src/ports.ts'
import { routesOf } from '../../src/kernel/compose/product.ts'
import { PRODUCTS } from '../../test/products/loaded-products.ts'
import { ChannelHistory } from '../../src/stream/channel-history.ts'
import { ChangeHistory } from '../../src/transactions/change-history.ts'
import { StreamHub } from '../../src/stream/hub.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { CQL_DATACENTER } from '../../test/servers/cql-cluster.ts'
import { appDeps, NO_LIMIT } from '../app-deps.ts'
import { KEYSPACE } from '../scylla-server.ts'
import { commitAsTold } from './committing.ts'
import { storeKeys } from './keys.ts'
import { blockOf, cash, commitOf, FIRST_SLOT, poolsOf } from './trades.ts'
import { TURNS_AT_ONCE } from '../../src/kernel/work/turns.ts'

const SWEEP_MS = 500

const [connections, place, pastBlocks = '0', pastTrades = '0', pastTokens = '1'] = process.argv.slice(2)
const { clock, random } = systemPorts
const storage = await openStorage(place!)
await storage.blocks.claim(null)
await storeKeys(storage, Number(connections))
const keys = await KeyDirectory.load(storage, NO_LIMIT, null, NO_LIMIT)
const report = (fault: unknown): void => void process.stderr.write(`${String(fault)}\n`)
let last = commitOf(FIRST_SLOT - 1, [])
for (let i = 0; i < Number(pastBlocks); i++) {
  const shape = { channels: Number(pastTokens), burst: Number(pastTrades), isUneven: true }
  last = blockOf({ slot: FIRST_SLOT + i, shape })
  await storage.blocks.commit(i > 0 ? last : { ...last, pools: poolsOf(shape) })
}
const feed = new CommitFeed()
const hub = new StreamHub(feed, cash, report)
hub.follow()
// Publishes the past's last block: the first one after a start is read from the store, which lacks the load's blocks.
feed.publish(last)
const horizon = new Horizon(storage.blocks, null)
await horizon.look()
const channels = {
  hub,
  history: new ChannelHistory(storage, cash),
  changes: new ChangeHistory(storage.documents, { isShared: false, ttlMs: null }),
  horizon,
  replays: new Replays(TURNS_AT_ONCE),
  retry: retryWhileUnavailable(storage, clock)
}
const limits = new RateWindow(10_000)
const tenants = new Tenants(channels, limits, { clock, random }, report)
tenants.guard(keys)
setInterval(() => tenants.sweep(), SWEEP_MS)
// REST's caches follow a feed without blocks: their invalidation is not measured.
const app = buildApp(appDeps({ storage, keys, cash, limits, stream: tenants }), routesOf(PRODUCTS))

function openStorage(place: string): Promise<Storage> {
  const port = /^cql:(\d+)$/.exec(place)?.[1]
  if (port === undefined) return openEmbeddedStorage({ directory: place })
  return openScyllaStorage({
    ...{ contactPoints: [`127.0.0.1:${port}`], port: Number(port), datacenter: CQL_DATACENTER },
    ...{ keyspace: KEYSPACE, username: null, password: null, replication: 1 },
    ...{ retentionSeconds: null, logSeconds: null }
  })
}

commitAsTold(blockOf, (block) => feed.publish(block))
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())
