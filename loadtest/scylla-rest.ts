import { encodeBase58 } from '../src/chain/base58.ts'
import { clusterEnvironment } from '../test/service/cluster.ts'
import type { CqlServer } from '../test/servers/cql.ts'
import { measure, type Measurement } from './closed-loop.ts'
import { SeededRandom, WeightedChoice } from './market/random.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { HEADERS } from './served-market.ts'

const CONNECTIONS = 16
/** As many paths as the service's response cache has room for. */
const PATHS = 1_000
/** Rows of a walk's first page: the offsets differ, so that walks have no page in common. */
const OFFSETS = Array.from({ length: 20 }, (_, i) => 5 * i + 1)
const DRAWS = 40_000

/** Starts the service on a keyspace as a gateway, which answers and does not ingest. */
function serve(server: CqlServer, keyspace: string): Promise<MeasuredProcess> {
  return startMeasured('../src/kernel/cli/millrace.js', ['serve', '--role', 'gateway', '--port', '0'], {
    env: {
      ...clusterEnvironment(server, keyspace, null),
      MILLRACE_ADMIN_KEY: HEADERS['x-api-key'],
      MILLRACE_LOG_LEVEL: 'warn',
      MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000000',
      MILLRACE_WORK_PER_MINUTE: '1000000000000'
    }
  })
}

/** Returns paths of different pages of some mints' trades, `limit` rows each. */
async function pagesOf(url: string, mints: readonly Uint8Array[], limit: number): Promise<string[]> {
  const paths: string[] = []
  for (const offset of OFFSETS)
    for (const mint of mints) {
      const trades = `/v1/tokens/${encodeBase58(mint)}/trades`
      let cursor = await nextOf(`${url}${trades}?limit=${offset}`)
      while (cursor !== null) {
        const path = `${trades}?limit=${limit}&after=${cursor}`
        cursor = await nextOf(url + path)
        // The last page of a list has fewer rows and is left out.
        if (cursor !== null) paths.push(path)
        if (paths.length === PATHS) return paths
      }
    }
  return paths
}

async function nextOf(url: string): Promise<string | null> {
  const response = await fetch(url, { headers: HEADERS })
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}`)
  return ((await response.json()) as { nextCursor: string | null }).nextCursor
}

export interface RestRound {
  /** Pages not requested since the start. */
  readonly first: Measurement
  /** These pages, repeatedly. */
  readonly again: Measurement
  /** Pages with the skew of users, from another start: the n-th page is requested 1/n times as often as the first. */
  readonly drawn: Measurement
}

function drawn(paths: readonly string[]): string[] {
  const choice = new WeightedChoice(paths.map((_, rank) => 1 / (rank + 1)))
  const random = new SeededRandom(40)
  return Array.from({ length: DRAWS }, () => paths[choice.draw(random)]!)
}

/** Requests equal pages over HTTP from a service that is started for each round. */
export async function restOn(
  server: CqlServer,
  keyspace: string,
  mints: readonly Uint8Array[],
  limit: number
): Promise<{ readonly pages: number; round(seconds: number): Promise<RestRound> }> {
  const scout = await serve(server, keyspace)
  const paths = await pagesOf(scout.url, mints, limit)
  const others = await pagesOf(scout.url, mints, limit - 1)
  await scout.end()
  const dealt = (all: readonly string[]): string[][] =>
    Array.from({ length: CONNECTIONS }, (_, at) => all.filter((_, i) => i % CONNECTIONS === at))
  /** Runs measurements on a new service. Uncounted pages come first, so that its code is compiled. */
  const started = async <T>(run: (service: MeasuredProcess) => Promise<T>): Promise<T> => {
    const service = await serve(server, keyspace)
    try {
      await measure(service, { headers: HEADERS, paths: dealt(others), seconds: 'once' })
      return await run(service)
    } finally {
      await service.end()
    }
  }
  return {
    pages: paths.length,
    async round(seconds) {
      const load = { headers: HEADERS, paths: dealt(paths) }
      const { first, again } = await started(async (service) => ({
        first: await measure(service, { ...load, seconds: 'once' }),
        again: await measure(service, { ...load, seconds })
      }))
      const asUsers = await started((service) =>
        measure(service, { headers: HEADERS, paths: dealt(drawn(paths)), seconds })
      )
      for (const { statuses } of [first, again, asUsers])
        if (Object.keys(statuses).join() !== '200') throw new Error(JSON.stringify(statuses))
      return { first, again, drawn: asUsers }
    }
  }
}
