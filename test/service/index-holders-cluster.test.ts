import t, { type Test } from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { testWithCql, type CqlServer } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { faultsBesideOutages, metricOf, until } from './asking.ts'
import { clusterOf } from './cluster.ts'
import { drains } from './drains.ts'
import type { ServiceProcess } from './service-process.ts'

const URLS = [
  '/v1/stats',
  '/v1/trending?window=1h',
  '/v1/trending?window=24h&limit=100',
  '/v1/search?q=sol',
  '/v1/search?q=pump&limit=50'
]

/** Entries of a process that grow with the number of mints. */
async function entriesOf(service: ServiceProcess): Promise<number> {
  const parts = ['ranked_mints', 'ranked_minutes', 'names']
  const entries = await Promise.all(
    parts.map((of) => metricOf(service, `millrace_index_entries{of="${of}"}`))
  )
  return entries.reduce((sum, each) => sum + each, 0)
}

const holds = async (service: ServiceProcess): Promise<boolean> =>
  (await metricOf(service, 'millrace_index_held')) === 1

/** Returns the answer of a service to each URL, as soon as it gives one. */
async function answersAt(service: ServiceProcess, urls: readonly string[] = URLS): Promise<string[]> {
  const texts: string[] = []
  for (const url of urls) {
    const body = await until(async () => {
      const answer = await service.get(url)
      return answer.status === 200 && answer.body
    }, `${url} is answered`)
    texts.push(`${url} ${JSON.stringify(body)}`)
  }
  return texts
}

/** Flags of a gateway that may hold names and rankings, and of one that may not. */
const [ABLE, SMALL] = [[], ['--index-holder', 'false']] as const

/** Starts an ingest process that reads some blocks, and gateways with these flags one after another. */
async function fleetOf(
  t: Test,
  server: CqlServer,
  redisUrl: string | null,
  blocks: number,
  flags: readonly (readonly string[])[]
) {
  const { start } = await clusterOf(t, server, { redisUrl, blocks })
  const ingest = await start('--role', 'ingest')
  await ingest.said(/the source has no more blocks/)
  const started: ServiceProcess[] = []
  for (const each of flags) started.push(await start('--role', 'gateway', ...each))
  const holders = started.filter((_, at) => flags[at] === ABLE).slice(0, 2)
  // A gateway decides again once it has heard of those that started at the same time.
  for (const [at, gateway] of started.entries())
    await until(async () => (await holds(gateway)) === holders.includes(gateway), `gateway ${at} has decided`)
  for (const holder of holders)
    await until(async () => {
      const { body } = await holder.get('/v1/search?q=sol')
      return body['complete'] === true
    }, 'the names are loaded')
  return started
}

testWithFixtures(t, 'gateways of a fleet', (t) =>
  testWithCql(t, 'on one CQL server', (t, server) => {
    testWithOwnRedis(
      t,
      'all but two hold no entry of names and rankings, however many there are, and answer as these do',
      async (t, redis) => {
        const held: number[] = []
        for (const blocks of [5, 50]) {
          const gateways = await fleetOf(t, server, redis.url, blocks, [ABLE, ABLE, ABLE])
          const [first] = gateways
          const expected = await answersAt(first!)
          for (const gateway of gateways) t.strictSame(await answersAt(gateway), expected)
          t.equal(await entriesOf(gateways[2]!), 0, 'the third holds nothing')
          held.push(await entriesOf(first!))
          t.equal((await gateways[2]!.get('/ready', null)).status, 200, 'it waits for nothing')
          for (const gateway of gateways) t.strictSame(faultsBesideOutages(gateway), [])
          for (const gateway of gateways) await drains(t, gateway)
        }
        t.comment(`entries of a holder: ${held.join(' and ')}`)
        t.ok(held[1]! > 4 * held[0]!)
      }
    )
    testWithOwnRedis(
      t,
      'the end of one that holds them is noticed by no request for longer than 5 s, and another takes its place',
      async (t, redis) => {
        const gateways = await fleetOf(t, server, redis.url, 5, [ABLE, ABLE, ABLE, ABLE])
        const [first, second, third, fourth] = gateways as [
          ServiceProcess,
          ServiceProcess,
          ServiceProcess,
          ServiceProcess
        ]
        const expected = await answersAt(first, ['/v1/search?q=co', ...URLS])
        await first.end('SIGKILL')
        const killedMs = performance.now()
        const search = await answersAt(fourth, ['/v1/search?q=co'])
        t.comment(`a search is answered ${Math.round(performance.now() - killedMs)} ms after the kill`)
        t.strictSame([...search, ...(await answersAt(fourth))], expected)
        await until(() => holds(third), 'the third holds them')
        t.equal(await holds(fourth), false)
        for (const gateway of [second, third, fourth])
          t.strictSame(await answersAt(gateway, ['/v1/search?q=co', ...URLS]), expected)
        t.equal(await entriesOf(fourth), 0)
        await redis.kill()
        const found = await answersAt(fourth, ['/v1/search?q=an'])
        t.strictSame(await answersAt(second, ['/v1/search?q=an']), found, 'without Redis too')
      }
    )
    void t.test(
      'without Redis they ask through the store; one that may not hold them never does',
      async (t) => {
        const gateways = await fleetOf(t, server, null, 5, [SMALL, ABLE, ABLE])
        const expected = await answersAt(gateways[0]!)
        for (const gateway of gateways) t.strictSame(await answersAt(gateway), expected)
        t.equal(await entriesOf(gateways[0]!), 0, 'the oldest')
      }
    )
    t.end()
  })
)
