import t from 'tap'
import { z } from 'zod'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { endpoint, serveCached } from '../../src/http/endpoint.ts'
import { address, wholeNumber } from '../../src/http/parameters.ts'
import { block, buy, key, NOON, TOKEN } from '../market/world.ts'
import { marketApp, type MarketApp } from './market-app.ts'

/** Counts the trades of a mint, and how often it was asked to. */
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
        changesWith: 'owners'
      }
    })
  )
  return world
}

const PATH = `/v1/counts/${pubkeyToBase58(TOKEN)}`
const trade = (slot: number, time = NOON) => block(slot, time, [buy(10n ** 9n, 10n ** 9n)])
/** A trade of another mint in another pool by another wallet. */
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
  t.equal(world.app.app.answers.size, 0)
})
