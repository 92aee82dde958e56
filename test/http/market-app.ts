import { PriorityFees } from '../../src/transactions/priority-fees.ts'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { loadReadSet, restoreMarket } from '../../actors/ingest/market-loader.ts'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import type { KeyAttributes } from '../../src/access/key-row.ts'
import { RateWindow } from '../../src/access/rate-window.ts'
import type { Scope } from '../../src/access/scopes.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { DecodingReport } from '../../src/ingest/decoding-report.ts'
import { errorsOf } from '../../src/kernel/compose/product.ts'
import { appOf, type AppNeeds } from './app-of.ts'
import { PRODUCTS } from '../products/loaded-products.ts'
import { DEADLINE_MS } from '../../src/kernel/http/deadline.ts'
import { httpBounds } from '../../src/kernel/http/bounds.ts'
import { NameIndex } from '../../src/data/name-index.ts'
import { systemPorts } from '../../src/ports.ts'
import { processTurns, Turns } from '../../src/kernel/work/turns.ts'
import { RankingHandle } from '../../src/data/ranking-handle.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { Ranking } from '../../src/market/ranking.ts'
import type { MarketState } from '../../src/market/market-state.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'
import type { StreamGateway, StreamHealth } from '../../src/stream/gateway.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import { aloneFleet } from '../fleet/sample-fleet.ts'
import { processMetrics } from '../products/process-metrics.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { putTenant } from '../../storage/test/sample-access.ts'
import { OPTIONS } from '../market/world.ts'
import { ownDirectory } from '../own-directory.ts'
import { fakeAccounts } from '../accounts/fake-account-node.ts'
import { fakeTransactions } from '../transactions/fake-transactions.ts'
import { fakeRpc } from '../rpc/fake-rpc.ts'
import { fakeParts } from '../webhooks/fake-parts.ts'

/** A row of a list and a response, as a client parses them. */
export interface Row {
  readonly [field: string]: unknown
  readonly cursor: number
}

export interface Body {
  readonly [field: string]: unknown
  readonly data: readonly Row[]
  readonly nextCursor: string | null
  readonly type: string
  readonly code: string
  readonly detail: string
  readonly request_id: string
  readonly errors: readonly { readonly field: string; readonly message: string }[]
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly type: string
  readonly text: string
  readonly body: Body
}

/** The HTTP side on an embedded store. The test sets its clock and its drain. */
export interface MarketApp {
  readonly app: FastifyInstance
  readonly deps: AppNeeds
  readonly storage: Storage
  readonly keys: KeyDirectory
  /** Every logged line, at level trace. */
  readonly logged: readonly string[]
  forgetLogged(): void
  /** A key of the tenant `acme` that may read data. */
  readonly key: string
  nowMs: number
  draining: boolean
  source: SourceStatus | null
  redisAway: boolean
  commit(...blocks: readonly DecodedBlock[]): Promise<void>
  /** Opens a second app over this storage and feed, with empty caches. The caller closes it. */
  another(): FastifyInstance
  /** Makes a key of `acme`, with attributes if given. */
  makeKey(scopes: readonly Scope[], attributes?: Partial<KeyAttributes>): Promise<string>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  ask(
    method: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
    payload?: string
  ): Promise<Answer>
}

const NO_BODY = {} as Body
/** Requests a minute of a key, above what any test sends unintentionally. */
const RATE_PER_MINUTE = 1_000_000
/**
 * Factor of the deadline of an answer, and of the wait for its turn: requests of a test are answered on a slow machine too.
 * Waits for a node are unchanged.
 */
const PATIENCE = 60
const ACME: KeyAttributes = {
  tenant: 'acme',
  name: 'of the test',
  scopes: ['data:read'],
  ratePerMinute: null,
  expiresAtMs: null,
  allowedIps: [],
  corsOrigins: []
}

/** Returns a stream that admits no connection. */
export const closedStream = (health: Partial<StreamHealth> = {}): StreamGateway => ({
  admits: () => false,
  open: (socket) => socket.close(4429),
  health: {
    head: -1,
    horizon: null,
    horizonSeconds: null,
    connections: 0,
    subscriptions: 0,
    eventsPerSecond: 0,
    dropped: 0,
    ...health
  }
})

export async function marketApp(
  t: Test,
  faulty: (storage: Storage) => Storage = (storage) => storage,
  {
    hotBytesMax = 2 ** 24,
    directory = ownDirectory(t),
    timerMs = (ms) => (ms === DEADLINE_MS ? ms * PATIENCE : ms),
    hasFaultyKeys = false,
    onApp = () => undefined,
    storage: given,
    ...overrides
  }: {
    readonly hotBytesMax?: number
    readonly directory?: string
    /** Maps the milliseconds of a timer to those that it takes. */
    readonly timerMs?: (ms: number) => number
    /** Whether keys and tenants are in the faulty storage too. */
    readonly hasFaultyKeys?: boolean
    /** The store, which the app closes; by default an embedded one. */
    readonly storage?: Storage
    /** Adds routes before the app is ready. */
    readonly onApp?: (world: MarketApp) => void
  } & Partial<
    Pick<
      AppNeeds,
      | 'archive'
      | 'turns'
      | 'clock'
      | 'accounts'
      | 'rpc'
      | 'weights'
      | 'bounds'
      | 'metricsKeyRequired'
      | 'stream'
      | 'rpcSockets'
      | 'sourceKind'
      | 'demoKey'
      | 'logger'
      | 'webhooks'
      | 'transactions'
      | 'watchedChanged'
      | 'nodeHead'
      | 'pastEnd'
      | 'fleet'
      | 'absence'
      | 'roles'
      | 'leaving'
      | 'answerBytes'
    >
  > = {}
): Promise<MarketApp> {
  const storage = given ?? (await openEmbeddedStorage({ directory, hotBytesMax }))
  const logged: string[] = []
  const logger = pino({ level: 'trace', base: null }, { write: (line: string) => void logged.push(line) })
  const decoding = new DecodingReport()
  await putTenant(storage, { name: 'acme', createdAtMs: 1 })
  const keys = await KeyDirectory.load(hasFaultyKeys ? faulty(storage) : storage, RATE_PER_MINUTE)
  const { key } = await keys.issue(ACME, 1)
  const feed = new CommitFeed()
  const ranking = new RankingHandle()
  const ranked = new Ranking()
  ranking.show(ranked)
  feed.follow({ published: (commit) => ranked.apply(commit) })
  const names = new NameIndex({ bytesMax: 2 ** 20, cash: OPTIONS.cash })
  names.isLoaded = true
  feed.follow({ published: ({ launches }) => launches.forEach((launch) => names.setLaunch(launch)) })
  let market: MarketState | null = null
  const deps: AppNeeds = {
    storage: faulty(storage),
    keys,
    limits: new RateWindow(1000),
    turns: new Turns(
      processTurns({ ...systemPorts.clock, setTimeout: (run, ms) => setTimeout(run, ms * PATIENCE) })
    ),
    feed,
    ranking,
    names,
    stream: closedStream(),
    webhooks: fakeParts(),
    transactions: fakeTransactions(),
    fees: new PriorityFees(),
    accounts: fakeAccounts(),
    rpc: fakeRpc(),
    venues: VENUE_IDS,
    cash: OPTIONS.cash,
    decoding,
    metrics: processMetrics(decoding),
    logger,
    clock: {
      now: () => world.nowMs,
      setTimeout: (run, ms) => setTimeout(run, timerMs(ms)),
      clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout)
    },
    version: '1.2.3',
    errors: errorsOf(PRODUCTS),
    sourceKind: 'rpc',
    source: () => world.source,
    redisAway: () => world.redisAway,
    fleet: aloneFleet({ now: () => world.nowMs }),
    roles: ['ingest', 'gateway', 'delivery'],
    isLoading: () => ranking.isLoading,
    tree: () => ({
      name: 'service',
      kind: 'supervisor',
      strategy: 'one_for_all',
      restart: 'permanent',
      state: 'running',
      instance: 1,
      restarts: 0,
      started_at: 1,
      last_error: null,
      gauges: {},
      children: []
    }),
    draining: () => world.draining,
    bounds: { ...httpBounds(Infinity), lingerMs: 500 },
    metricsKeyRequired: false,
    ...overrides
  }
  const app = appOf(deps)

  const world: MarketApp = {
    app,
    deps,
    storage,
    keys,
    logged,
    forgetLogged: () => void logged.splice(0),
    key,
    nowMs: 0,
    draining: false,
    source: null,
    redisAway: false,
    async commit(...blocks) {
      market ??= await restoreMarket(storage, await storage.blocks.head())
      for (const block of blocks) {
        const prepared = market.prepare(block, OPTIONS)
        const fold = prepared.fold(await loadReadSet(storage, prepared.readSet))
        const commit = { ...fold, log: encodeLog(fold, OPTIONS.cash) }
        await storage.blocks.commit(commit)
        feed.publish(commit)
      }
    },
    another: () => appOf({ ...deps, metrics: processMetrics(decoding) }),
    async makeKey(scopes, attributes = {}) {
      const issued = await keys.issue({ ...ACME, scopes, ...attributes }, 1)
      return issued.key
    },
    get: (path, headers) => world.ask('GET', path, headers),
    async ask(method, path, headers = { 'x-api-key': key }, payload) {
      const response = await app.inject({
        method: method as 'GET',
        url: path,
        headers,
        ...(payload === undefined ? {} : { payload })
      })
      const type = String(response.headers['content-type'] ?? '')
      return {
        status: response.statusCode,
        headers: response.headers,
        type,
        text: response.body,
        body: /[/+]json/.test(type) && response.body !== '' ? (JSON.parse(response.body) as Body) : NO_BODY
      }
    }
  }
  onApp(world)
  t.teardown(async () => {
    await app.close()
    await storage.close()
  })
  return world
}

/** Returns the whole list of an endpoint, paged by `after` with the limits that `limitOf` returns. */
export async function walk(
  app: MarketApp,
  path: string,
  limitOf: () => number,
  between: () => Promise<void> = async () => undefined
): Promise<Row[]> {
  const rows: Row[] = []
  let after: string | null = null
  do {
    const joint = path.includes('?') ? '&' : '?'
    const { status, body, text } = await app.get(
      `${path}${joint}limit=${limitOf()}${after === null ? '' : `&after=${after}`}`
    )
    if (status !== 200) throw new Error(text)
    rows.push(...body.data)
    after = body.nextCursor
    await between()
  } while (after !== null)
  return rows
}

/** Returns the given limits in turn, repeatedly. */
export function cycle(values: readonly number[]): () => number {
  let at = 0
  return () => values[at++ % values.length]!
}
