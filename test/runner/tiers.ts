import { readSources, type SourceFile } from '../house/sources.ts'
import type { Unit } from './test-unit.ts'

/** Files that start the service, a browser, a packer, an image or a copy of the house in separate processes. */
const STARTING = /^test\/(service|browser|client|cli)\/|^test\/house\/(image|\w+-recipe)\./
/** Helpers and packages that start third-party servers: Cassandra, Redis, the validator, Chromium. */
const SERVERS = /^(test\/servers\/|test\/node\/real-validator\.ts$|playwright-core$)/

/**
 * Files that take forty seconds or more, heavy ones first: heavy files follow each other while other files wait for servers.
 * All start first, so that none is left for the end. A file missing here only makes a run longer.
 */
const LONGEST = [
  'test/storage/scylla-faults.test.ts',
  'test/service/real-node.test.ts',
  'test/service/transactions-validator.test.ts',
  'test/service/put-back.test.ts',
  'test/service/failover-cluster.test.ts',
  'test/service/holders-validator.test.ts',
  'test/service/program-accounts-validator.test.ts',
  'test/localnet/node/validator.test.ts',
  'test/service/transactions-faults.test.ts',
  'test/service/lost-coordination.test.ts',
  'test/storage/scylla-lives.test.ts',
  'test/service/transactions-cluster.test.ts',
  'test/storage/scylla-amendments.test.ts',
  'test/house/record-recipe.test.ts',
  'test/service/localnet-accounts.test.ts',
  'test/service/mixed-versions-cluster.test.ts',
  'test/service/compose-cluster.test.ts',
  'test/service/two-processes.test.ts',
  'test/service/webhooks-cluster.test.ts',
  'test/service/webhooks.test.ts',
  'test/service/stream-cluster.test.ts',
  'test/service/store-killed.test.ts',
  'test/cli/conformance.test.ts',
  'test/browser/explorer.test.ts',
  'test/service/localnet-oracle.test.ts'
]

/** Files that wait for half a minute or more. */
const LONGEST_WAITING = [
  // Uses no CQL server of its own, next to the three nodes of the longest starting file.
  'test/storage/redis-leases.test.ts',
  'test/storage/scylla-writer.test.ts',
  'test/storage/scylla-start.test.ts',
  'test/servers/servers.test.ts',
  'test/actors/ingest/backfill-cluster.test.ts',
  'test/storage/scylla-seam.test.ts',
  'test/actors/ingest/rollback-cluster.test.ts',
  'test/storage/scylla-conformance.test.ts',
  'test/storage/scylla-flushes.test.ts'
]

/**
 * Files with three CQL nodes, a validator, or a fleet of every role twice on a CQL node of its own. Each uses both cores, and
 * proves less if it does not get them. One of them runs at a time.
 */
const HEAVY =
  /^test\/(storage\/scylla-faults|service\/(failover-cluster|put-back|real-node|(transactions|program-accounts|holders|revenue)-validator)|localnet\/node\/validator)\./
export const isHeavy = (path: string): boolean => HEAVY.test(path)

/**
 * Files of the full tier: what several processes or CQL nodes do together, what a service does on a validator beside the one
 * of `real-node`, long series of kills and of generated requests, recipes on copies of the house, all views of the explorer,
 * all checks of a JSON-RPC endpoint, examples of the client, the test servers themselves, and tools that are downloaded:
 * generators of clients, other runtimes. `npm test` keeps
 * one service of each product with its kill, and one session of a browser.
 */
export const FULL = [
  /^test\/.*-(cluster|validator|recipe)\.test\.ts$/,
  /^test\/storage\/(scylla-(archive|faults|lives|amendments|seam)|redis-leases)\./,
  /^test\/service\/(failing-store|import-full-disk|localnet-(accounts|oracle)|put-back|put-back-localnet|repaired-(localnet|rows)|store-killed|swept|new-user)\./,
  /^test\/service\/(dearest-requests|localnet-scylla|rolling-restart|same-answers|sigkill)\./,
  /^test\/service\/(hostile|lost-coordination|schemathesis|stream-isolation|transactions-faults|two-processes|revenue-failing-store)\./,
  /^test\/(cli\/(conformance|export-python)|archive\/rows\/pyarrow)\./,
  /^test\/client\/(examples|generators|runtimes)\.|^test\/servers\/servers\./,
  /^test\/house\/image\.|^test\/localnet\/node\/validator\.|^test\/browser\/(explorer|page-(long|states))\./
]
/** Files of the long tier alone, of three minutes on both cores: a fleet that loses each of its parts in turn. */
const ONLY_LONG = /^test\/service\/failover-cluster\./
export const isOnlyLong = (path: string): boolean => ONLY_LONG.test(path)
export const isOfFullTier = (path: string): boolean => FULL.some((files) => files.test(path))

/**
 * Dear computing files that the quick tier leaves to `npm test`: series of kills and of damage, comparisons of all that is
 * served or stored, counts of all calls in a turn. Each subject has a cheaper file in the quick tier.
 */
export const NOT_QUICK: readonly { readonly files: RegExp; readonly quick: string }[] = [
  { files: /^test\/actors\/ingest\/(lost-records|backfill)\./, quick: 'test/market/refold.test.ts' },
  { files: /^test\/actors\/ingest\/rollback\./, quick: 'test/actors/ingest/deep-rollback.test.ts' },
  { files: /^test\/actors\/ingest\/rpc-source\./, quick: 'test/actors/ingest/rpc-source-bad-input.test.ts' },
  {
    files: /^test\/archive\/(import|rows\/(held-truth|import-rows|untimed-rows))\./,
    quick: 'test/archive/facts/canonical-blocks.test.ts'
  },
  { files: /^test\/holders\/(localnet|killed|takeover)\./, quick: 'test/holders/stored-lists.test.ts' },
  { files: /^test\/http\/dearest-(reads|writes)\./, quick: 'test/http/turns.test.ts' },
  { files: /^test\/(http\/cached-answers|data\/unknown-mints)\./, quick: 'test/http/response-cache.test.ts' },
  { files: /^test\/data\/oracle\./, quick: 'test/data/stats.test.ts' },
  { files: /^test\/http\/stalled-writes\./, quick: 'test/http/idempotency.test.ts' },
  { files: /^test\/localnet\/bank\/restart\./, quick: 'test/localnet/bank/durability.test.ts' },
  {
    files: /^test\/localnet\/(past|market\/distributions)\./,
    quick: 'test/localnet/market/simulator.test.ts'
  },
  { files: /^test\/recorded\/absurd-numbers\./, quick: 'test/node/absurd-numbers.test.ts' },
  { files: /^test\/revenue\/localnet\./, quick: 'test/revenue/takeover.test.ts' },
  { files: /^test\/revenue\/backfill-faults\./, quick: 'test/revenue/backfill.test.ts' },
  { files: /^test\/rpc\/long-answer-turns\./, quick: 'test/rpc/long-bodies.test.ts' },
  { files: /^test\/runner\/runner\./, quick: 'test/runner/tiers.test.ts' },
  {
    files: /^test\/storage\/embedded-(crash|damage|small-memory)\./,
    quick: 'test/storage/embedded-conformance.test.ts'
  },
  {
    files: /^test\/storage\/embedded-swept-(market|repair)\./,
    quick: 'test/storage/embedded-retention.test.ts'
  },
  { files: /^test\/stream\/replays\./, quick: 'test/stream/catch-up.test.ts' },
  { files: /^test\/transactions\/bundle-evidence\./, quick: 'test/transactions/bundle-tracker.test.ts' }
]
/** Returns whether the quick tier runs a computing file. */
export const isQuick = (path: string): boolean => !NOT_QUICK.some(({ files }) => files.test(path))

export interface TestFiles {
  /** Files that start processes, and wait for them a third of their time or more; the longest first. */
  readonly starting: readonly string[]
  /** Files that talk to a server, and take a fifth of a processor; the longest first. */
  readonly waiting: readonly string[]
  /** Files that compute in one process: pure code, HTTP, the embedded storage. */
  readonly computing: readonly string[]
}

/** Computing files of more than five seconds, waits included: sharing a process saves nothing for them. */
const LONG_COMPUTING =
  /^test\/(actors\/ingest\/(lost-records|rollback|backfill|rpc-source)|program-accounts\/(localnet|exact-slots|account-index)|holders\/(localnet|stored-lists|takeover)|localnet\/(market\/(simulator|distributions)|bank\/restart|past)|revenue\/(localnet|backfill|backfill-faults)|storage\/embedded-(crash|conformance|damage|retention|small-memory)|http\/(cached-answers|dearest-reads|dearest-writes|connections|stalled-writes)|data\/oracle|runner\/runner|rpc\/(faults|long-answer-turns))\./
/** Folders of tests of the process itself. */
const OF_PROCESS = /^test\/(kernel\/memory|runner|loadtest|actors\/supervision)\//
/** Text of files that change or measure their whole process. */
const CHANGES_PROCESS =
  /\bprocess\.(?:abort|chdir|cpuUsage|emit|env|exit|getActive|kill\(process|listeners|memoryUsage|off\b|on\b|once|remove|resourceUsage|set|stderr|stdout|threadCpuUsage|title|umask)|\bglobalThis\b|\bgc\b|setFlags|getHeap|registerHooks|new Worker|\b(?:Date|performance|Math)\.\w+ = |setGlobal|setDefault/
/** The files of a unit take about ten seconds, and the start is a small part of that. */
const UNIT_FILES_MAX = 20

/**
 * Returns computing files as units, in the order to run them: long ones, then neighbours in one process each, then short
 * ones that run alone for another reason.
 */
export function unitsOf(files: readonly string[]): Unit[] {
  const texts = new Map(readSources(['test']).map(({ path, text }) => [path, text]))
  const isLong = (path: string): boolean => LONG_COMPUTING.test(path)
  const isOwn = (path: string): boolean => OF_PROCESS.test(path) || CHANGES_PROCESS.test(texts.get(path)!)
  const neighbours = files.filter((path) => !isLong(path) && !isOwn(path))
  const shared = Array.from({ length: Math.ceil(neighbours.length / UNIT_FILES_MAX) }, (_, at) =>
    neighbours.slice(at * UNIT_FILES_MAX, (at + 1) * UNIT_FILES_MAX)
  )
  const alone = (isAlone: (path: string) => boolean): Unit[] => files.filter(isAlone).map((file) => [file])
  return [...alone(isLong), ...shared, ...alone((path) => !isLong(path) && isOwn(path))]
}

/** Returns the test files by their kind of work, each list in the order to run them. */
export function testFiles(): TestFiles {
  const sources = new Map(readSources(['test']).map((source) => [source.path, source]))
  const all = [...sources.keys()].filter((path) => path.endsWith('.test.ts')).sort()
  const isServed = (path: string): boolean => reaches(sources, path, SERVERS)
  const isStarting = (path: string): boolean => STARTING.test(path) || LONGEST.includes(path) || isHeavy(path)
  const longestFirst = (files: readonly string[], longest: readonly string[]): string[] => [
    ...longest.filter((path) => files.includes(path)),
    ...files.filter((path) => !longest.includes(path))
  ]
  return {
    starting: longestFirst(all.filter(isStarting), LONGEST),
    waiting: longestFirst(
      all.filter((path) => !isStarting(path) && isServed(path)),
      LONGEST_WAITING
    ),
    computing: all.filter((path) => !isStarting(path) && !isServed(path))
  }
}

/** Returns whether a file imports a matching name, directly or through other files of the tests. */
export function reaches(sources: ReadonlyMap<string, SourceFile>, path: string, name: RegExp): boolean {
  const seen = new Set<string>()
  const pending = [path]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at)) continue
    seen.add(at)
    const { imports = [] } = sources.get(at) ?? {}
    if (imports.some((imported) => name.test(imported))) return true
    pending.push(...imports)
  }
  return false
}
