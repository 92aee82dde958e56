import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { INTERVALS } from '../../src/market/rows.ts'
import { fixturesDirectory, testWithFixtures } from '../fixtures.ts'
import { testWithCql } from '../servers/cql.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { ADMIN_KEY, startProcess, type ServiceProcess } from './service-process.ts'

/** Maximum number each of mints, pools and wallets that are queried: those that the newest and oldest lists name first. */
const OWNERS_MAX = 100
const AT_ONCE = 16

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | null>>
}

async function ask({ url }: ServiceProcess, path: string): Promise<Answer> {
  // Whether gzip is used depends on other requests.
  const asking = { 'x-api-key': ADMIN_KEY, 'accept-encoding': 'identity' }
  const response = await fetch(url + path, { headers: asking })
  // A problem names the service and the request.
  const text = (await response.text()).replace(url, '').replace(/("request_id":)"[^"]+"/, '$1null')
  const headers = Object.fromEntries(
    ['content-type', 'cache-control', 'etag', 'vary'].map((name) => [name, response.headers.get(name)])
  )
  return { status: response.status, text, headers }
}

/** Resolves once the names of all launches are searched. */
async function named(service: ServiceProcess): Promise<void> {
  for (;;) {
    const { text } = await ask(service, '/v1/search?q=sol')
    if ((JSON.parse(text) as { readonly complete?: boolean }).complete === true) return
    await sleep(100)
  }
}

/** Walks through every endpoint and every page of a service, and returns its answers by path. */
async function walk(service: ServiceProcess): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>()
  const paths: string[] = [
    '/v1/stats',
    '/v1/admin/decoding',
    ...['sol', 'pump', 'co', 'the&limit=50'].map((text) => `/v1/search?q=${text}`),
    ...['1h', '4h', '24h'].map((window) => `/v1/trending?window=${window}`),
    ...['', '&status=created', '&status=trading', '&status=graduated'].flatMap((status) =>
      ['desc', 'asc'].map((order) => `/v1/launches?limit=7&order=${order}${status}`)
    )
  ]
  const owners = { mint: new Set<string>(), pool: new Set<string>(), wallet: new Set<string>() }

  const about = {
    mint: (mint: string) => {
      const token = `/v1/tokens/${mint}`
      return [
        token,
        `/v1/search?q=${mint}`,
        `${token}/price`,
        `${token}/bonding-curve`,
        `${token}/pools?limit=2`,
        `${token}/trades?limit=7`,
        `${token}/trades?limit=5&order=asc`,
        `${token}/trades?side=buy&offset=1&limit=9`,
        ...INTERVALS.map((interval) => `${token}/candles?interval=${interval}&limit=20`),
        `${token}/candles?fill=previous&raw=1&currency=usd&limit=30`
      ]
    },
    pool: (pool: string) => [
      `/v1/search?q=${pool}`,
      `/v1/pools/${pool}/activity`,
      `/v1/pools/${pool}/activity?limit=1`
    ],
    wallet: (wallet: string) => [
      `/v1/wallets/${wallet}/trades?limit=3`,
      `/v1/wallets/${wallet}/trades?order=asc`
    ]
  }
  const meet = (kind: keyof typeof owners, address: unknown): void => {
    if (typeof address !== 'string' || owners[kind].has(address) || owners[kind].size === OWNERS_MAX) return
    owners[kind].add(address)
    paths.push(...about[kind](address))
  }

  for (const path of paths) {
    if (answers.has(path)) continue
    const answer = await ask(service, path)
    answers.set(path, answer)
    const body = JSON.parse(answer.text) as {
      readonly data?: unknown
      readonly nextCursor?: string | null
    }
    const rows = (Array.isArray(body.data) ? body.data : []) as readonly Readonly<Record<string, unknown>>[]
    for (const row of rows) {
      for (const name of ['mint', 'in_mint', 'out_mint', 'base_mint', 'quote_mint']) meet('mint', row[name])
      meet('pool', row.pool)
      meet('wallet', row.user)
    }
    const [base = '', query = ''] = path.split('?')
    const next = new URLSearchParams(query)
    // Filled candles continue for years, minute by minute.
    const isFilled = next.has('fill') && next.has('after')
    if (typeof body.nextCursor === 'string' && !isFilled) {
      next.delete('offset')
      next.set('after', body.nextCursor)
      paths.push(`${base}?${next.toString()}`)
    }
  }
  return answers
}

testWithFixtures(t, 'services on both stores', (t) =>
  testWithCql(t, 'every answer to every page is the same bytes on both stores', async (t, server) => {
    const recordedDir = fixturesDirectory()
    const limit = { MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000', MILLRACE_WORK_PER_MINUTE: '1000000000' }
    const cluster = { ...limit, ...clusterEnvironment(server, ownKeyspace(t, server), null) }
    const start = async (dataDir: string, environment: Record<string, string>): Promise<ServiceProcess> => {
      const service = await startProcess({ dataDir, recordedDir, environment })
      t.teardown(() => service.end('SIGTERM'))
      await service.said(/the source has no more blocks/)
      return service
    }
    const directory = t.testdir({ embedded: {}, scylla: {} })
    const [embedded, scylla] = await Promise.all([
      start(join(directory, 'embedded'), limit),
      start(join(directory, 'scylla'), cluster)
    ])

    await Promise.all([named(embedded), named(scylla)])

    const expected = await walk(embedded)
    const good = [...expected.values()].filter(({ status }) => status === 200)
    t.ok(good.length > 1000, `${good.length} answers`)
    const differing: object[] = []
    const compare = async ([path, answer]: readonly [string, Answer]): Promise<void> => {
      const other = await ask(scylla, path)
      if (JSON.stringify(other) !== JSON.stringify(answer)) differing.push({ path, answer, other })
    }
    const pairs = [...expected]
    while (pairs.length > 0) await Promise.all(pairs.splice(0, AT_ONCE).map(compare))
    t.strictSame(differing.slice(0, 3), [], `${differing.length} of ${expected.size} answers differ`)
  })
)
