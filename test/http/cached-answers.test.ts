import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { ChainEvent } from '../../src/chain/events.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import {
  anyChain,
  block,
  buy,
  curve,
  key,
  launch,
  liquidity,
  NOON,
  OTHER,
  PEGGED,
  poolChange,
  sell,
  solSale,
  trade,
  USD_COIN
} from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { archiveOf } from '../archive/archived-app.ts'
import { marketApp, type MarketApp } from './market-app.ts'
import { QUESTIONS, type Question } from './questions.ts'

const MINUTE = 60
const HOUR = 3_600
const DAY = 86_400

const THIRD = key(3)
const LATE = key(4)
const PAIR_POOL = key(102)
const OTHER_CURVE = key(103)
const NEW_POOL = key(104)
const MIGRATED = key(105)
const ELSEWHERE = { pool: key(999), user: key(998), outMint: key(997) }
const reserves = { in: 30n, out: 50n, virtualIn: 31_000_000_000n, virtualOut: 900_000_000_000n }
const onCurve = { venue: 'pumpfun', reserves } as const
const inDollars = { inMint: USD_COIN, inDecimals: 6 } as const

interface Step {
  readonly what: string
  /** Seconds after the previous block. */
  readonly after: number
  readonly events: readonly ChainEvent[]
}

const step = (what: string, after: number, ...events: ChainEvent[]): Step => ({ what, after, events })
const coin = (n: bigint): bigint => n * 1_000_000n
const sol = (n: bigint): bigint => n * 1_000_000_000n

/** Events that change answers, each in its own block, so that no other event invalidates them. */
const STORY: readonly Step[] = [
  step('nothing yet', 0),
  step('a launch', 5, launch({ venue: 'pumpfun' })),
  step('a curve that states its reserves', 2, curve('create', { reserves: { realBase: 5n } })),
  step('a first trade, with SOL at an unknown price', 2, buy(sol(1n), coin(5n), onCurve)),
  step('a price of SOL', 3, solSale(200)),
  step('a trade on the curve', 5, buy(sol(2n), coin(9n), onCurve)),
  step('a trade elsewhere', 5, buy(sol(3n), coin(3n), ELSEWHERE)),
  step('a sale', 5, sell(coin(3n), sol(1n), { ...onCurve, user: key(301) })),
  step('another minute', 4),
  step('a time that falls into the minute before', -3),
  step('another price of SOL', MINUTE, solSale(210)),
  step('a trade at that price', 5, buy(sol(1n), coin(4n), onCurve)),
  step('a trade without cash', 5, trade({ inMint: OTHER, inDecimals: 6, pool: PAIR_POOL, user: key(302) })),
  step('a launch of the other mint', 3, launch({ baseMint: OTHER, curve: OTHER_CURVE, pool: OTHER_CURVE })),
  step(
    'a trade for dollars',
    3,
    buy(coin(70n), coin(7n), { ...inDollars, outMint: OTHER, pool: OTHER_CURVE })
  ),
  step('the first trade of a mint without a launch', 3, buy(sol(5n), coin(1n), { outMint: THIRD })),
  step('a trade too small to form a price', 3, buy(20n, 10n, onCurve)),
  step('a trade far off the price', 3, buy(sol(400n), coin(1n), { user: key(301) })),
  step('another cash', 3, buy(coin(30n), coin(6n), { ...inDollars, inMint: PEGGED, pool: key(107) })),
  step('liquidity of a pool that is not known', 3, liquidity({ pool: NEW_POOL, event: 'add' })),
  step(
    'liquidity of mints that are not told',
    3,
    liquidity({ pool: NEW_POOL, baseMint: null, quoteMint: null })
  ),
  step('a new pool', 3, poolChange({ pool: MIGRATED, baseVault: key(501) })),
  step('another fee', 3, poolChange({ pool: MIGRATED, event: 'update', feeBps: 30 })),
  step('the end of a curve', 3, curve('complete', { progressPct: 100 })),
  step('a migration', 3, curve('migrate', { destination: MIGRATED })),
  step('a trade in the pool after it', 3, buy(sol(6n), coin(20n), { pool: MIGRATED, user: key(303) })),
  step('five minutes later', 5 * MINUTE, buy(sol(3n), coin(3n), ELSEWHERE)),
  step('an hour later', HOUR, solSale(190)),
  step('four hours later', 4 * HOUR),
  step('one more buy', 20, buy(sol(2n), coin(8n), { pool: MIGRATED, user: key(301) })),
  step('the next day', DAY, buy(sol(3n), coin(3n), ELSEWHERE)),
  step(
    'a launch of a mint that was asked for',
    5,
    launch({ baseMint: LATE, curve: key(108), pool: key(108) })
  ),
  step('its first trade', 5, buy(sol(2n), coin(8n), { outMint: LATE, pool: key(108), user: key(304) })),
  step('a week later', 7 * DAY),
  step('a sale after it', 5, sell(coin(8n), sol(2n), { pool: MIGRATED, user: key(301) }))
]

function blocksOf(steps: readonly Step[]): DecodedBlock[] {
  let time = NOON - MINUTE / 2
  return steps.map(({ after, events }, i) => block(300_000_000 + 2 * i, (time += after), events))
}

/** Returns an answer without the request id of a problem, which differs each time. */
async function outcome(app: FastifyInstance, url: string, apiKey: string): Promise<string> {
  const { statusCode, headers, body } = await app.inject({ url, headers: { 'x-api-key': apiKey } })
  const text = statusCode === 200 ? body : body.replace(/"request_id":"[^"]*"/, '')
  return `${statusCode} ${headers.etag} ${text}`
}

const isAnswer = (outcome: string): boolean => outcome.startsWith('200 ')

/** Returns the place where two outcomes differ, ignoring the entity tag. */
function difference(served: string, expected: string): string {
  const [ours, theirs] = [served, expected].map((text) => text.replace(/"[\w-]{27}"/, '')) as [string, string]
  let at = 0
  while (at < ours.length && ours[at] === theirs[at]) at++
  const [was, is] = [ours, theirs].map((text) => text.slice(Math.max(at - 40, 0), at + 40))
  return `served …${was}… for …${is}…`
}

/** Asks every question after every block, of an app with a response cache and of one without. */
class Asking {
  readonly #t: Test
  readonly #world: MarketApp
  readonly #urls = new Set(QUESTIONS.map(({ url }) => url))
  /** URLs with a newly rendered answer since this was last cleared. */
  readonly made = new Set<string>()
  /** Number of cached answers that were served again after a block. */
  outlived = 0

  constructor(t: Test, world: MarketApp) {
    this.#t = t
    this.#world = world
    const { responseCache } = world.app
    const make = responseCache.make.bind(responseCache)
    responseCache.make = (name, route, making) => {
      this.made.add(name.slice(0, name.indexOf(' ')))
      return make(name, route, making)
    }
  }

  async afterBlock(what: string): Promise<void> {
    const { app, key } = this.#world
    const another = this.#world.another()
    const wrong: string[] = []
    for (const url of this.#urls) {
      this.made.clear()
      const kept = await outcome(app, url, key)
      const isMade = this.made.delete(url)
      if (isAnswer(kept) && !isMade) this.outlived++
      const again = isAnswer(kept) && isMade ? await outcome(app, url, key) : kept
      if (again !== kept || this.made.has(url)) wrong.push(`${url} is not kept`)
      const expected = await outcome(another, url, key)
      if (kept !== expected) wrong.push(`${url} ${difference(kept, expected)}`)
      this.#goOn(url, expected)
    }
    await another.close()
    this.#t.same(wrong, [], what)
  }

  /** Adds the next page to the questions, once a page has one. */
  #goOn(url: string, text: string): void {
    const after = /"nextCursor":"([^"]+)"/.exec(text)?.[1]
    const hasNext = [...this.#urls].some((each) => each.startsWith(url) && each.includes('after='))
    if (after === undefined || hasNext || url.includes('after=')) return
    this.#urls.add(`${url}${url.includes('?') ? '&' : '?'}after=${after}`)
  }
}

t.test('a cached answer equals that of an app without a cache, after every kind of block', async (t) => {
  const world = await marketApp(t)
  const asking = new Asking(t, world)
  for (const [i, at] of blocksOf(STORY).entries()) {
    await world.commit(at)
    await asking.afterBlock(`${i}: ${STORY[i]!.what}`)
  }
  t.ok(asking.outlived > 500, `${asking.outlived} answers outlived a block`)
})

t.test('a cached answer that goes on into an archive equals that of an app without a cache', async (t) => {
  const blocks = blocksOf(STORY)
  const archived = STORY.findIndex(({ what }) => what === 'the end of a curve')
  const { archive } = archiveOf(blocks.slice(0, archived))
  const world = await marketApp(t, undefined, { archive })
  const asking = new Asking(t, world)
  for (const at of blocks.slice(archived)) {
    await world.commit(at)
    await asking.afterBlock(`block ${at.slot}`)
  }
  t.ok(asking.outlived > 200, `${asking.outlived} answers outlived a block`)
})

t.test('a cached answer equals that of an app without a cache, after any blocks', async (t) => {
  const [chain] = fc.sample(
    anyChain.filter(({ length }) => length >= 10 && length <= 16),
    randomRuns(1, 5)
  )
  const world = await marketApp(t)
  const asking = new Asking(t, world)
  for (const [i, at] of chain!.entries()) {
    await world.commit(at)
    await asking.afterBlock(`block ${i}`)
  }
  t.ok(asking.outlived > 100, `${asking.outlived} answers outlived a block`)
})

t.test('an answer outlives a block that its endpoint does not change with', async (t) => {
  const world = await marketApp(t)
  const [ofAnotherMinute, empty, ...before] = blocksOf([
    ...STORY,
    step('an empty block', 1),
    step('one of another minute', MINUTE)
  ]).toReversed()
  await world.commit(...before.toReversed())
  const asking = new Asking(t, world)
  const answered: Question[] = []
  for (const question of QUESTIONS) {
    if ((await world.get(question.url)).status === 200) answered.push(question)
  }
  for (const [at, changing] of [
    [empty!, ['block']],
    [ofAnotherMinute!, ['block', 'minute']]
  ] as const) {
    await world.commit(at)
    asking.made.clear()
    for (const { url } of answered) await world.get(url)
    const others = answered.filter(({ trigger }) => !changing.some((each) => each === trigger))
    t.ok(others.length > 40)
    t.same(
      others.filter(({ url }) => asking.made.has(url)),
      [],
      `made again though only those by ${changing.join(' and ')} change`
    )
  }
})

/**
 * Endpoints that answer from accounts, which no block of the feed changes: their answers end with time (metadata.test.ts,
 * holders.test.ts).
 */
const OF_ACCOUNTS = [
  '/v1/metadata/{mint}',
  '/v1/metadata',
  '/v1/wallets/{wallet}/token-accounts',
  '/v1/wallets/{wallet}/holdings'
]

t.test('every endpoint whose answers are kept is asked', async (t) => {
  const { app } = await marketApp(t)
  await app.ready()
  const paths = app.served.filter(({ isCached }) => isCached).map(({ endpoint }) => endpoint.path)
  const asked = QUESTIONS.map(({ url }) => url.split('?')[0]!)
  for (const path of paths.filter((each) => !OF_ACCOUNTS.includes(each))) {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    t.ok(
      asked.some((each) => pattern.test(each)),
      path
    )
  }
})

t.equal(new Set(QUESTIONS.map(({ url }) => url)).size, QUESTIONS.length, 'no question is asked twice')
