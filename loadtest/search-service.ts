/**
 * Serves GET /v1/search over synthetic names, without a chain. Arguments: the directory of its store, and the number of
 * tokens. Any message is answered with the memory and the times of the index.
 */
import { pino } from 'pino'
import { bootstrapKeys } from '../src/access/bootstrap.ts'
import { KeyDirectory } from '../src/access/key-directory.ts'
import { RateWindow } from '../src/access/rate-window.ts'
import { pubkeyMapKey, type Pubkey } from '../src/chain/pubkey.ts'
import { VENUE_IDS } from '../src/chain/venue-id.ts'
import { buildApp } from '../src/http/app.ts'
import { httpBounds } from '../src/http/bounds.ts'
import { openFilesMax } from '../src/http/open-files.ts'
import { searchRoutes } from '../src/http/routes/search.ts'
import { CashList } from '../src/market/cash.ts'
import { Ranking } from '../src/market/ranking.ts'
import { systemPorts } from '../src/ports.ts'
import { DecodingReport } from '../src/telemetry/decoding-report.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { PriorityFees } from '../src/transactions/priority-fees.ts'
import { CommitFeed } from '../src/views/commit-feed.ts'
import { NameIndex, type Volumes } from '../src/views/name-index.ts'
import { foldedText } from '../src/views/name-text.ts'
import { RankingHandle } from '../src/views/ranking-handle.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { namesOf, TEXTS } from './search-names.ts'
import { HEADERS } from './served-market.ts'

const NO_LIMIT = 1_000_000_000
/** Share of tokens that traded in the last day. */
const TRADED = 0.2
/** Memory for names: no token is evicted. */
const NAMES_BYTES = 2 ** 30

const [directory, count] = process.argv.slice(2)
const tokens = Number(count)
const storage = await openEmbeddedStorage({ directory: directory! })
await storage.blocks.claim(null)
await bootstrapKeys(storage, HEADERS['x-api-key'], 1)
const cash = new CashList()
const ranking = new Ranking()
ranking.advance(0)
for (let n = 0; n < tokens * TRADED; n++)
  ranking.take(mintOf(n * 5), [{ minute: 0, trades: 1, volumeMicroUsd: BigInt((n * 7_919) % 100_003) }])
const live = new RankingHandle()
live.show(ranking)

globalThis.gc?.()
const before = heldBytes()
const names = new NameIndex({ bytesMax: NAMES_BYTES, cash })
const began = performance.now()
for (let n = 0; n < tokens; n++) names.setLaunch({ mint: mintOf(n), ...namesOf(n) })
const fillMs = performance.now() - began
names.endReload()
globalThis.gc?.()
const held = heldBytes() - before

const decoding = new DecodingReport()
const app = buildApp(
  {
    storage,
    keys: await KeyDirectory.load(storage, NO_LIMIT),
    limits: new RateWindow(10_000),
    feed: new CommitFeed(),
    ranking: live,
    names,
    stream: null,
    webhooks: null,
    transactions: null,
    fees: new PriorityFees(),
    accounts: null,
    rpc: null,
    venues: VENUE_IDS,
    cash,
    decoding,
    metrics: createMetrics(decoding),
    logger: pino({ level: 'silent' }),
    clock: systemPorts.clock,
    version: 'loadtest',
    sourceKind: null,
    source: () => null,
    redisAway: () => false,
    tree: () => {
      throw new Error('there are no processes')
    },
    draining: () => false,
    bounds: httpBounds(openFilesMax()),
    metricsKeyRequired: false
  },
  [searchRoutes]
)
process.on('message', () => process.send!({ fillMs, held, estimated: names.bytes, times: searchTimes() }))
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())

function mintOf(n: number): Pubkey {
  const mint = new Uint8Array(32).fill(7)
  new DataView(mint.buffer).setUint32(0, Math.imul(n, 2_654_435_761))
  return mint
}

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Microseconds of each search of the texts in the index alone, after one that is not counted. */
function searchTimes(): { text: string; hits: number; micros: number }[] {
  const volumes: Volumes = {
    of: (mapKey) => ranking.volume('24h', mapKey),
    descending: () => ranking.byVolume('24h')
  }
  return TEXTS.map((text) => {
    const folded = foldedText(text)
    names.search(folded, 20, volumes)
    const start = performance.now()
    names.search(folded, 20, volumes)
    const micros = (performance.now() - start) * 1_000
    return {
      text,
      hits: names.search(folded, 1e9, { of: () => undefined, descending: () => [] }).length,
      micros
    }
  })
}

// The keys of the ranking and of the index are equal texts.
if (tokens > 0 && ranking.volume('24h', pubkeyMapKey(mintOf(5))) === undefined) throw new Error('no volume')
