import type { BlockCommit } from '../../src/market/records.ts'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { z } from 'zod'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { ResponseCache } from '../../src/kernel/http/response-cache.ts'
import { endpoint } from '../../src/kernel/http/endpoint.ts'
import { serveCached } from '../../src/kernel/http/serve-cached.ts'
import { address, wholeNumber } from '../../src/kernel/http/parameters.ts'
import { setExtent } from '../../src/market/block-extent.ts'
import { tagKey, InvalidationIndex, type CacheTag } from '../../src/kernel/http/invalidation-index.ts'
import { block, buy, key, NOON, TOKEN } from '../market/world.ts'
import { advance, virtualClock } from '../virtual-time.ts'
import { emptyCommit } from './commits.ts'
import { marketApp, type MarketApp } from './market-app.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const ROUTE = { path: '/', scope: 'any-key' } as const

/** An app with an endpoint that counts the trades of a mint, and counts its own calls. */
async function countingApp(t: Parameters<typeof marketApp>[0], padding = 0) {
  const app = await marketApp(t)
  const world = { app, made: 0 }
  const counts = endpoint({
    path: '/v1/counts/{mint}',
    tag: 'test',
    summary: 'Counts',
    scope: 'data:read',
    params: z.object({ mint: address }),
    query: z.object({ limit: wholeNumber(1, 10, 5) }),
    answer: z.object({ tenant: z.string(), trades: z.number(), age: z.number(), padding: z.string() })
  })
  void app.app.register(async (plugin) =>
    serveCached(plugin, counts, async ({ params: { mint }, tenant }) => {
      world.made++
      const rows = await app.storage.trades.ofMint(mint, { order: 'desc', limit: 10 })
      return {
        body: (headTime) => ({
          tenant,
          trades: rows.length,
          age: headTime - NOON,
          padding: 'x'.repeat(padding)
        }),
        dependsOn: [mint],
        changesWith: 'tags'
      }
    })
  )
  return world
}

const PATH = `/v1/counts/${pubkeyToBase58(TOKEN)}`
const trade = (slot: number, time = NOON) => block(slot, time, [buy(10n ** 9n, 10n ** 9n)])
/** Returns a block with a trade of another mint in another pool by another wallet. */
const strange = (slot: number, time = NOON) =>
  block(slot, time, [buy(10n ** 9n, 10n ** 9n, { outMint: key(8), pool: key(80), user: key(81) })])

async function body(app: MarketApp, path = PATH) {
  const answer = await app.get(path)
  if (answer.status !== 200) throw new Error(answer.text)
  return JSON.parse(answer.text) as { trades: number; age: number; tenant: string }
}

t.test('an answer is made once and again when a block touches what it depends on', async (t) => {
  const world = await countingApp(t)
  await world.app.commit(trade(1))
  t.match(await body(world.app), { trades: 1, tenant: 'acme' })
  t.match(await body(world.app), { trades: 1 })
  t.equal(world.made, 1)
  await world.app.commit(strange(2))
  t.match(await body(world.app), { trades: 1 })
  t.equal(world.made, 1, 'another mint is no matter')
  await world.app.commit(trade(3))
  t.match(await body(world.app), { trades: 2 })
  t.equal(world.made, 2)
})

t.test('what follows the head is rendered anew without being made anew', async (t) => {
  const world = await countingApp(t)
  await world.app.commit(trade(1))
  t.match(await body(world.app), { age: 0 })
  await world.app.commit(strange(2, NOON + 7))
  t.match(await body(world.app), { age: 7 })
  t.equal(world.made, 1)
})

t.test('the entity tag answers 304, and changes with the bytes', async (t) => {
  const world = await countingApp(t)
  const { key } = world.app
  const ask = (tag: string) => world.app.get(PATH, { 'x-api-key': key, 'if-none-match': tag })
  await world.app.commit(trade(1))
  const first = await world.app.get(PATH)
  const tag = String(first.headers.etag)
  t.match(tag, /^"[\w-]{27}"$/)
  t.match(first.headers, { 'cache-control': 'private, no-cache', vary: /Accept-Encoding, X-API-Key/ })
  for (const named of [tag, `W/${tag}`, `"other", ${tag}`, '*', tag.replace(/"$/, '-gzip"')]) {
    const answer = await ask(named)
    t.equal(answer.status, 304, named)
    t.equal(answer.text, '')
    t.equal(answer.headers.etag, tag)
    t.match(answer.headers, { 'x-request-id': String, 'x-data-freshness-seconds': String })
  }
  for (const named of ['"other"', 'other', '', tag.slice(1)]) t.equal((await ask(named)).status, 200, named)
  await world.app.commit(trade(2))
  t.equal((await ask(tag)).status, 200)
  t.not((await ask('')).headers.etag, tag)
})

t.test('a bad parameter is refused and not remembered', async (t) => {
  const world = await countingApp(t)
  for (let i = 0; i < 2; i++) t.equal((await world.app.get(`${PATH}?limit=11`)).status, 400)
  t.equal(world.made, 0)
  t.equal(world.app.app.responseCache.size, 0)
})

t.test('a body that is worth it goes out in gzip, the same bytes each time', async (t) => {
  const world = await countingApp(t, 5000)
  await world.app.commit(trade(1))
  const plain = await world.app.get(PATH)
  const ask = (accepted: string, more: Record<string, string> = {}) =>
    world.app.app.inject({
      url: PATH,
      headers: { 'x-api-key': world.app.key, 'accept-encoding': accepted, ...more }
    })
  for (const accepted of ['gzip', 'br, gzip;q=0.5', 'GZIP', '*', 'deflate, *;q=0.1', 'x-gzip']) {
    const { headers, rawPayload } = await ask(accepted)
    t.match(headers, { 'content-encoding': 'gzip', vary: /Accept-Encoding/ }, accepted)
    t.equal(headers.etag, String(plain.headers.etag).replace(/"$/, '-gzip"'))
    t.equal(Number(headers['content-length']), rawPayload.length)
    t.ok(rawPayload.length < 500)
    t.equal(gunzipSync(rawPayload).toString(), plain.text)
  }
  for (const accepted of ['', 'br', 'identity', 'gzip;q=0', 'gzip;q=0.0, *', '*;q=0', 'gzipped']) {
    const { headers, payload } = await ask(accepted)
    t.equal(headers['content-encoding'], undefined, accepted)
    t.equal(payload, plain.text)
  }
  t.equal((await ask('gzip', { 'if-none-match': String(plain.headers.etag) })).statusCode, 304)
  t.equal(world.made, 1)
})

t.test('a small body stays as it is', async (t) => {
  const world = await countingApp(t)
  await world.app.commit(trade(1))
  const answer = await world.app.get(PATH, { 'x-api-key': world.app.key, 'accept-encoding': 'gzip' })
  t.equal(answer.headers['content-encoding'], undefined)
})

t.test('HEAD has the headers of GET and no body, and shares its answer', async (t) => {
  const world = await countingApp(t, 100)
  await world.app.commit(trade(1))
  const head = await world.app.ask('HEAD', PATH)
  const get = await world.app.get(PATH)
  t.equal(head.text, '')
  for (const name of ['etag', 'content-length', 'content-type', 'vary', 'cache-control'])
    t.equal(head.headers[name], get.headers[name], name)
  t.equal(world.made, 1)
})

t.test('no tenant gets an answer that was cached for another', async (t) => {
  const world = await countingApp(t)
  await world.app.commit(trade(1))
  t.equal((await body(world.app)).tenant, 'acme')
  const keys = [...world.app.app.responseCache.keys]
  t.strictSame(keys, [`${PATH} acme`])
})

t.test('an answer that takes too long is given up with 503, and may be asked for again', async (t) => {
  const clock = virtualClock()
  const responseCache = new ResponseCache(new CommitFeed(), clock)
  const signals: AbortSignal[] = []
  const slow = responseCache.make('x', ROUTE, ({ signal }) => {
    signals.push(signal)
    return new Promise<never>(() => undefined)
  })
  const failed = t.rejects(slow, { name: 'ServiceError', kind: ERRORS.DEADLINE_EXCEEDED })
  await advance(clock, 1999)
  t.equal(signals[0]?.aborted, false)
  await advance(clock, 1)
  await failed
  t.equal(signals[0]?.aborted, true)
  const made = await responseCache.make('x', ROUTE, async () => ({
    body: { a: 1 },
    dependsOn: [],
    changesWith: 'tags'
  }))
  t.equal(made.bytes.toString(), '{"a":1}')
  t.ok(responseCache.fresh('x'))
})

t.test('the failure of a handler reaches all waiting requests, and is not cached', async (t) => {
  const responseCache = new ResponseCache(new CommitFeed(), virtualClock())
  const fail = async () => Promise.reject(new Error('on purpose'))
  const both = await Promise.allSettled([
    responseCache.make('x', ROUTE, fail),
    responseCache.make('x', ROUTE, fail)
  ])
  t.strictSame(
    both.map(({ status }) => status),
    ['rejected', 'rejected']
  )
  t.equal(responseCache.size, 0)
})

t.test('an answer during which blocks of a fork are removed is made again', async (t) => {
  const feed = new CommitFeed()
  const responseCache = new ResponseCache(feed, virtualClock())
  const unfollow = responseCache.follow()
  t.teardown(() => unfollow())
  let made = 0
  const { bytes } = await responseCache.make('x', ROUTE, async () => {
    if (made++ === 0) feed.amend(null)
    return { body: `rows of read ${made}`, dependsOn: [], changesWith: 'tags' } as const
  })
  t.equal(bytes.toString(), '"rows of read 2"')
  t.equal(made, 2)
})

t.test('an answer that is not cached is made again once, too', async (t) => {
  const feed = new CommitFeed()
  const responseCache = new ResponseCache(feed, virtualClock())
  const unfollow = responseCache.follow()
  t.teardown(() => unfollow())
  const heads: (number | undefined)[] = []
  const work = async ({ head }: { readonly head: { readonly slot: number } | null }) => {
    heads.push(head?.slot)
    feed.amend(emptyCommit(9 - heads.length, NOON).slot)
    return heads.length
  }
  t.equal(await responseCache.within(work), 2, 'a second removal does not hold the answer up')
  t.strictSame(heads, [undefined, 8])
  t.equal(await responseCache.within(async () => 'at once'), 'at once')
})

t.test('an answer that would take an eighth of the memory is served and not kept', async (t) => {
  const responseCache = new ResponseCache(new CommitFeed(), virtualClock(), { bytesMax: 8000 })
  const make = (length: number) => async () =>
    ({ body: 'x'.repeat(length - 2), dependsOn: [], changesWith: 'tags' }) as const
  t.equal((await responseCache.make('large', ROUTE, make(1001))).bytes.length, 1001)
  t.equal(responseCache.fresh('large'), null)
  await responseCache.make('small', ROUTE, make(1000))
  t.ok(responseCache.fresh('small'))
})

t.test('a write of any kind invalidates the answers that depend on it', async (t) => {
  const [mint, pool, wallet, quote, curve] = [1, 2, 3, 4, 5].map(key) as [
    Pubkey,
    Pubkey,
    Pubkey,
    Pubkey,
    Pubkey
  ]
  const changing: [part: object, tags: CacheTag[]][] = [
    [{ trades: [{ mint, pool, user: wallet }] }, [mint, pool, wallet]],
    [{ poolEvents: [{ pool }] }, [pool]],
    [{ activity: [{ owner: mint }] }, [mint]],
    [{ candles: [{ mint }] }, [mint]],
    [{ pairs: [{ mint }] }, [mint]],
    [{ tokens: [{ mint }] }, [mint]],
    [{ pools: [{ pool, base: mint, quote }] }, [pool, mint, quote]],
    [{ curves: [{ mint, curve }] }, [mint, curve]],
    [{ launches: [{ mint, curve }] }, [mint, curve, 'launches']],
    [{ solPrices: [{ minute: 0, usd: 1, sourceMinute: 0 }] }, ['sol-price']]
  ]
  const all: CacheTag[] = [mint, pool, wallet, quote, curve, 'launches', 'sol-price']
  for (const [part, tags] of changing) {
    const { feed, invalidation } = followed()
    feed.publish({ ...emptyCommit(2, NOON), ...part })
    const changed = all.filter((tag) => !invalidation.holds([tagKey(tag)], 'tags', 1))
    t.strictSame(
      changed,
      all.filter((tag) => tags.includes(tag)),
      Object.keys(part).join()
    )
  }
})

/** Returns a feed, an index that follows it from its first block, and whether an answer of a slot with a tag still holds. */
function followed() {
  const feed = new CommitFeed()
  feed.restore(emptyCommit(1, NOON).slot)
  const invalidation = new InvalidationIndex(feed)
  invalidation.follow()
  const holds = (tag: Pubkey, slot: number): boolean => invalidation.holds([tagKey(tag)], 'tags', slot)
  return { feed, invalidation, holds }
}

t.test(
  'while no answer is checked, blocks wait for it: up to eight, and earlier answers are stale',
  async (t) => {
    const [changed, other] = [key(1), key(2)]
    const { feed, holds } = followed()
    const publish = (first: number, last: number, tokens: readonly object[] = []): void => {
      for (let slot = first; slot <= last; slot++)
        feed.publish({ ...emptyCommit(slot, NOON), tokens } as unknown as BlockCommit)
    }
    publish(2, 8)
    publish(9, 9, [{ mint: changed }])
    t.ok(holds(other, 1), 'all eight are known')
    t.notOk(holds(changed, 8))
    t.ok(holds(changed, 9))
    publish(10, 18)
    t.notOk(holds(other, 9), 'block 10 was forgotten, and can have changed anything')
    t.ok(holds(other, 10))
    publish(19, 19, [{ mint: changed }])
    t.ok(holds(other, 10))
    t.notOk(holds(changed, 18))
  }
)

t.test(
  'the digest of a block is needed while answers are checked, and a block without one changes everything',
  async (t) => {
    const [changed, other] = [key(1), key(2)]
    const { feed, holds } = followed()
    /** Publishes a block as a process that follows does. */
    const publish = (slot: number, tokens: readonly object[] = []): string => {
      const commit = { ...emptyCommit(slot, NOON), tokens } as unknown as BlockCommit
      const needed = feed.neededOf(commit)
      setExtent(commit, needed)
      feed.publish(commit)
      return needed
    }
    t.equal(publish(2), 'slot')
    t.notOk(holds(other, 1), 'nothing is known of the block')
    t.ok(holds(other, 2))
    for (let slot = 3; slot <= 9; slot++) t.equal(publish(slot), 'digest')
    t.equal(publish(10, [{ mint: changed }]), 'digest')
    t.ok(holds(other, 2))
    t.notOk(holds(changed, 9))
    for (let slot = 11; slot <= 18; slot++) t.equal(publish(slot), 'digest')
    t.equal(publish(19), 'slot', 'no answer was checked for eight blocks')
    t.notOk(holds(other, 18))
    t.ok(holds(other, 19))
    t.equal(publish(20), 'digest')
    t.ok(holds(other, 19))
  }
)

t.test(
  'memory stays within its limit: the least recently used leave, and what is stale gives its part back',
  async (t) => {
    const feed = new CommitFeed()
    feed.restore(emptyCommit(1, NOON).slot)
    const responseCache = new ResponseCache(feed, virtualClock(), { bytesMax: 20_000 })
    responseCache.follow()
    for (let i = 0; i < 100; i++) {
      await responseCache.make(`${i}`, ROUTE, async () => ({
        body: 'x'.repeat(500 + i),
        dependsOn: [],
        changesWith: 'block'
      }))
      t.ok(responseCache.fresh('0'), 'what is used stays')
      if (responseCache.bytes > 20_000) t.fail(`${responseCache.bytes} bytes after ${i}`)
    }
    t.ok(responseCache.size > 8 && responseCache.size < 20)
    t.equal(responseCache.fresh('1'), null)
    t.ok(responseCache.fresh('99'))
    await responseCache.make('aging', ROUTE, async () => ({
      body: (headTime: number) => headTime,
      dependsOn: [TOKEN],
      changesWith: 'tags'
    }))
    for (let slot = 2; slot < 10; slot++) {
      feed.publish(emptyCommit(slot, NOON + 60 * slot))
      t.equal(responseCache.fresh('aging')?.rendering.bytes.toString(), String(NOON + 60 * slot))
    }
    feed.restore(emptyCommit(20, NOON).slot)
    for (const key of [...responseCache.keys]) t.equal(responseCache.fresh(key), null)
    t.equal(responseCache.bytes, 0)
  }
)
