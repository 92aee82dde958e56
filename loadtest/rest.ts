/**
 * Measures REST over the wire on the store of a synthetic market, against a bare Fastify route that returns the answer's
 * bytes and header fields from memory. Each server has its own process; rounds alternate within one run. A hot URL is also
 * compared with a route that sends the body alone, which a client reads in two thirds of the time.
 *
 * Scenarios: *warm* is one hot URL. *Skewed* draws URLs with the distribution of the market's trades. Both follow a round
 * that is not counted, and are repeated while blocks arrive at mainnet's live rate. *Cold* is the hot URL from the start of
 * a service, with empty caches and code that is not compiled. *First* requests URLs that nobody has requested since the
 * start, each once: the cost of a cache miss. Answers are compared byte by byte after the load.
 *
 *     node loadtest/rest.ts DIRECTORY [trades] [seconds] [scenario…]
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SyntheticMarket } from './market/blocks.ts'
import { marketOf } from './market/population.ts'
import { SeededRandom } from './market/random.ts'
import { directoryBytes, ensureMarketStore } from './market-store.ts'
import { Memory } from './memory.ts'
import { writeResult } from './result.ts'
import { runAgainstBare, CONNECTIONS, type Round } from './rounds.ts'
import { scenariosOf, type Scenario } from './scenarios.ts'
import { ranked, serveMarket, startUp, type Served } from './served-market.ts'
import { answersOf, differing } from './verify.ts'
import { workingCopy } from './working-copy.ts'

const [directory, trades = '10000000', span = '5', ...names] = process.argv.slice(2)
if (directory === undefined) throw new Error('missing argument DIRECTORY: where to build the store')
const seconds = Number(span)
const FIRST_PATHS = 1000
const SKEWED_PATHS = 20_000
const VERIFIED = 50
const COLD_STARTS = 3

const store = await ensureMarketStore(directory, marketOf(Number(trades)), (line) => console.error(line))
const market = new SyntheticMarket(store.size)
const scenarios = scenariosOf(market).filter(({ name }) => names.length === 0 || names.includes(name))
const scratch = workingCopy(directory)
mkdirSync(join(scratch, 'nothing'))

function skewedPaths(scenario: Scenario): string[] {
  const random = new SeededRandom(store.size.seed, 30)
  return Array.from({ length: SKEWED_PATHS }, () => scenario.draw(random))
}

/** Returns a sample of the requested paths, identical for every server. */
function verifiedPaths(): string[] {
  const random = new SeededRandom(store.size.seed, 31)
  return scenarios.flatMap((scenario) => [
    scenario.warm,
    ...Array.from({ length: VERIFIED }, () => scenario.draw(random))
  ])
}

async function measureScenario(service: Served, scenario: Scenario, memory: Memory): Promise<object> {
  const warm = await runAgainstBare(service, { paths: [scenario.warm], seconds, justStarted: false })
  memory.note(`${scenario.name}, warm`)
  const skewed = await runAgainstBare(service, { paths: skewedPaths(scenario), seconds, justStarted: false })
  memory.note(`${scenario.name}, skewed`)
  return { warm, skewed }
}

/** Returns the median round of several starts: other work on the machine weighs much in a process's first two seconds. */
async function measureStarts(paths: readonly string[]): Promise<Round> {
  const rounds: Round[] = []
  for (let i = 0; i < COLD_STARTS; i++) rounds.push(await measureStarted(paths, seconds))
  return rounds.toSorted((a, b) => a.ratio - b.ratio)[Math.floor(COLD_STARTS / 2)]!
}

/** Runs the load on a service that has just started and has finished its own reads. */
async function measureStarted(paths: readonly string[], span: number | 'once'): Promise<Round> {
  const service = await serveMarket(scratch, 'quiet')
  try {
    await ranked(service)
    return await runAgainstBare(service, { paths, seconds: span, justStarted: true })
  } finally {
    await service.end()
  }
}

/** Prints figures without replacing the saved result: for runs of selected scenarios. */
async function printed(_name: string, figures: object): Promise<void> {
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
}

try {
  const starts = await startUp(scratch, scenarios[0]!.warm)
  const endpoints: Record<string, Record<string, unknown>> = {}
  const quiet = await serveMarket(scratch, 'quiet')
  await ranked(quiet)
  const quietMemory = new Memory(quiet)
  const before = await answersOf(quiet, verifiedPaths())
  for (const scenario of scenarios) {
    endpoints[scenario.name] = { quiet: await measureScenario(quiet, scenario, quietMemory) }
    console.error(scenario.name, JSON.stringify(endpoints[scenario.name]))
  }
  const changed = differing(before, await answersOf(quiet, verifiedPaths()))
  const quietRss = quietMemory.end()
  await quiet.end()
  for (const scenario of scenarios) {
    const { warm, name } = scenario
    const paths = scenario.distinct(FIRST_PATHS, new SeededRandom(store.size.seed, 32))
    const started = {
      cold: await measureStarts([warm]),
      first: await measureStarted(paths, 'once')
    }
    Object.assign(endpoints[name]!, started)
    console.error(name, JSON.stringify(started))
  }

  const live = await serveMarket(scratch, 'live', directory)
  await ranked(live)
  const liveMemory = new Memory(live)
  for (const scenario of scenarios) {
    endpoints[scenario.name]!.live = await measureScenario(live, scenario, liveMemory)
    console.error(scenario.name, JSON.stringify(endpoints[scenario.name]!.live))
  }
  const headBefore = live.firstHead
  const head = await live.pause()
  const kept = await answersOf(live, verifiedPaths())
  const liveRss = liveMemory.end()
  await live.end()
  const restarted = await serveMarket(scratch, 'quiet')
  await ranked(restarted)
  const stale = differing(kept, await answersOf(restarted, verifiedPaths()))
  await restarted.end()

  await (names.length > 0 ? printed : writeResult)('rest', {
    store: { ...store.size, blocks: store.blocks, bytes: directoryBytes(join(directory, 'store')) },
    connections: CONNECTIONS,
    closed_loop: true,
    seconds,
    start_up: starts,
    verified: {
      paths: before.size,
      changed_by_the_load: changed,
      live_blocks: head.slot - headBefore.slot,
      differing_from_a_restarted_service: stale
    },
    rss_mib: { quiet: quietRss, live: liveRss },
    endpoints
  })
  if (changed.length + stale.length > 0) process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
