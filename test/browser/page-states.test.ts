import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/accounts/metaplex.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { metaplexData, mintData } from '../accounts/account-data.ts'
import { fakeAccounts } from '../accounts/fake-account-node.ts'
import { PIXEL } from '../accounts/image-bytes.ts'
import { block, buy, key, launch, solSale, TOKEN } from '../market/world.ts'
import { openTestPage, testInBrowser } from './chromium.ts'
import { drawnCursors, MINT, openPage, openPageWorld } from './page-world.ts'

const HOUR_MS = 3_600_000
const SIGNATURE = '1'.repeat(64)
const WALLET = pubkeyToBase58(key(300))
const VIEWS = [
  ...['#/', `#/token/${MINT}`, `#/wallet/${WALLET}`, `#/pool/${MINT}`, `#/tx/${SIGNATURE}`],
  ...['account', 'stream', 'webhooks', 'transactions', 'revenue', 'coverage'].map(
    (name) => `#/tenant/${name}`
  ),
  ...['tree', 'nodes', 'index', 'tenants'].map((name) => `#/operator/${name}`)
]

/** Goes through views until each has its answers; returns those that failed. */
async function failedViews(
  page: Page,
  url: string,
  later: (ready: () => Promise<boolean>, what: string) => Promise<void>
) {
  const failed: string[] = []
  for (const view of VIEWS) {
    await page.goto(`${url}${view}`)
    await page.locator('.panel, .problem').first().waitFor()
    await later(async () => (await page.locator('.loading').count()) === 0, `${view} has its answers`)
    const text = await page.locator('main').innerText()
    if (/The view failed|NaN|undefined|\[object|Invalid Date/.test(text)) failed.push(`${view}: ${text}`)
  }
  return failed
}

testInBrowser(t, 'an empty store: every view stands and says what is missing', async (t, browser) => {
  const world = await openPageWorld(t)
  const { page, complaints, strangers, later } = await openPage(browser, world, '#/')
  await page.getByText('No token has traded in this window.').waitFor()
  await page.getByText('No token has been launched yet.').waitFor()
  await page.getByText('No curve has been sold out yet.').waitFor()
  t.same(await failedViews(page, world.proxy.url, later), [])
  await page.goto(`${world.proxy.url}#/token/${MINT}`)
  await page.locator('.problem', { hasText: 'not indexed' }).waitFor()
  await page.goto(`${world.proxy.url}#/tenant/coverage`)
  await page.getByText('Nothing is indexed yet.').waitFor()
  t.same(
    complaints.filter((text) => !/status of 4\d\d|status of 50[123]/.test(text)),
    []
  )
  t.same(strangers, [])
})

testInBrowser(
  t,
  'a clock that is an hour off changes no age and no time of an answer',
  async (t, browser) => {
    const world = await openPageWorld(t)
    await world.commitTrades(1, 3)
    const startMs = Date.now()
    for (const offsetMs of [HOUR_MS, -HOUR_MS]) {
      const { page, later } = await openPage(browser, world, `#/token/${MINT}`, {
        time: Date.now() + offsetMs
      })
      const row = page.locator('.virtual-box [data-key]').first()
      await row.waitFor()
      // The trades are a minute old; the page counts on by its own clock.
      const age = row.locator('time')
      await later(
        async () => /^(5\d|6\d)s$|^\dm$/.test(await age.innerText()),
        `${offsetMs}: the age is a minute`
      )
      await row.locator('.value').first().click()
      const received = await page.getByRole('dialog').getByText('by the clock of the service').innerText()
      const receivedMs = Date.parse(`${received.slice(0, 19).replace(' ', 'T')}Z`)
      t.ok(receivedMs > startMs - HOUR_MS / 2 && receivedMs < Date.now() + HOUR_MS / 2, received)
      await page.close()
    }
  }
)

// A name of another machine: no secure context, another host than the service listens on, no demo key.
testInBrowser(
  t,
  "from another machine's address the page works without a secure context",
  async (t, browser) => {
    const world = await openPageWorld(t)
    await world.commitTrades(1, 3)
    const { port } = new URL(world.proxy.url)
    const url = `http://millrace.example:${port}/m/`
    const { page, complaints, strangers } = await openPage(
      browser,
      { ...world, proxy: { ...world.proxy, url } },
      `#/token/${MINT}`
    )
    t.equal(await page.evaluate('isSecureContext'), false)
    t.equal(await page.evaluate('location.host'), `millrace.example:${port}`)
    await page.locator('.virtual-box [data-key]').nth(2).waitFor()
    await page.locator('.chart canvas').first().waitFor()
    t.same(await drawnCursors(page), await world.cursors())
    t.same(complaints, [])
    t.same(strangers, [], 'every request goes to that address')

    // A change needs an Idempotency-Key, which a page without a secure context makes itself.
    await page.goto(`${url}#/tenant/revenue`)
    await page.getByLabel('Watch', { exact: true }).fill(WALLET)
    await page.getByRole('button', { name: 'Watch', exact: true }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    t.match((await world.app.get('/v1/revenue/accounts', { 'x-api-key': world.key })).body.data, [
      { address: WALLET }
    ])

    const visitor = await openTestPage(browser)
    await visitor.goto(url)
    await visitor.getByLabel('API key').waitFor()
    t.equal(await visitor.getByRole('button', { name: 'Open with the demo key' }).count(), 0)
  },
  ['--host-resolver-rules=MAP millrace.example 127.0.0.1']
)

/** Names that would run in a page which takes them for markup, change the direction of their line, and are 10 KB long. */
const HOSTILE = {
  markup: `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`,
  direction: '\u202eevil\u2066\u200f txt',
  emoji: '👩‍👩‍👧‍👦🏴‍☠️🇨🇭',
  long: 'wide '.repeat(2_048),
  unbroken: 'W'.repeat(10_240),
  combining: `z${'\u0351'.repeat(500)}algo`
}

testInBrowser(
  t,
  'names with markup, marks of direction, emoji and 10 KB are text of one line',
  async (t, browser) => {
    const world = await openPageWorld(t)
    const mints = Object.keys(HOSTILE).map((_, at) => key(500 + at))
    const events = Object.values(HOSTILE).flatMap((name, at) => [
      launch({
        baseMint: mints[at]!,
        name,
        symbol: name,
        uri: name,
        curve: key(700 + at),
        pool: key(700 + at)
      }),
      buy(10n ** 9n, 10n ** 9n, { outMint: mints[at]!, pool: key(700 + at) })
    ])
    await world.app.commit(block(1, Math.floor(Date.now() / 1_000) - 60, [solSale(150), ...events]))
    for (const width of [1280, 375]) {
      const { page, complaints } = await openPage(browser, world, '#/', { viewport: { width, height: 900 } })
      await page.locator('.market tbody .symbol').nth(4).waitFor()
      await checkNames(t, page, `${width} market`)
      for (const mint of mints) {
        await page.goto(`${world.proxy.url}#/token/${pubkeyToBase58(mint)}`)
        await page.locator('.virtual-box [data-key]').first().waitFor()
        await page.getByRole('button', { name: 'Metadata', exact: true }).click()
        await page.locator('#metadata-title').waitFor()
        await checkNames(t, page, `${width} ${pubkeyToBase58(mint)}`)
      }
      t.same(
        complaints.filter((text) => !/status of (404|50\d)/.test(text)),
        []
      )
      await page.close()
    }
  }
)

/** Returns the elements that reach beyond the screen, if the page scrolls sideways. */
const WIDER = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5)
  .map((each) => each.tagName + '.' + each.className + ' ' + each.textContent.slice(0, 30))`

async function checkNames(t: Test, page: Page, view: string): Promise<void> {
  t.equal(await page.title(), 'Millrace', `${view}: nothing has run`)
  t.equal(await page.locator('img, script:not([type="module"])').count(), 0, `${view}: no element of a name`)
  t.same(await page.evaluate<string[]>(WIDER), [], `${view}: nothing is wider`)
  const names = await page.locator('.symbol, .full-name, h1').allInnerTexts()
  t.notOk(
    names.some((name) => /[\u202a-\u202e\u2066-\u2069\u200f\u0000]/.test(name)),
    view
  )
  t.ok(
    names.every((name) => [...name].length < 90),
    view
  )
  const heights = await page.evaluate<number[]>(
    "[...document.querySelectorAll('.symbol, .full-name')].map((name) => name.getBoundingClientRect().height)"
  )
  t.ok(
    heights.every((height) => height < 60),
    `${view}: names are one line`
  )
}

testInBrowser(
  t,
  'candles of an archive are pale, and the chart says where the archive ends',
  async (t, browser) => {
    const world = await openPageWorld(t)
    await world.commitTrades(1, 3)
    const { page, later } = await openPage(browser, world, '#/')
    const path = `**/v1/tokens/${MINT}/candles?**`
    let head: Record<string, unknown> = {}
    await page.route(path, async (route) => {
      const query = new URL(route.request().url()).searchParams
      if (query.get('after') !== null)
        return route.fulfill({ json: { ...head, data: olderCandles(), nextCursor: null } })
      const answer = await route.fetch()
      if (!answer.ok() || query.get('limit') !== '300') return route.fulfill({ response: answer })
      const body = (await answer.json()) as Record<string, unknown>
      head = body
      return route.fulfill({ response: answer, json: { ...body, nextCursor: 'older' } })
    })
    await page.goto(`${world.proxy.url}#/token/${MINT}`)
    const note = page.locator('.archive-note')
    await later(async () => (await note.count()) === 1, 'the archive is scrolled to')
    t.match(
      await note.innerText(),
      /^The pale candles, those before \d{4}-\d\d-\d\d \d\d:\d\d:00 UTC, are from the imported archive/
    )
  }
)

/** Returns minutes of the hour before the last one, the first half of them archived. */
function olderCandles() {
  const endMs = Math.floor(Date.now() / 60_000) * 60_000 - HOUR_MS
  return Array.from({ length: 50 }, (_, at) => {
    const ms = endMs - (50 - at) * 60_000
    const ts = new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
    const prices = { open: 1, high: 2, low: 1, close: 2, volume_usd: 1, volume_token: 1, volume_cash: 1 }
    const counts = { trades: 1, buys: 1, sells: 0, closed: true }
    return { ts, ts_ms: ms, ...prices, ...counts, ...(at < 25 && { source: 'archive' }) }
  })
}

testInBrowser(t, 'a bundle is a line of time, with its members', async (t, browser) => {
  const world = await openPageWorld(t)
  const { page } = await openPage(browser, world, '#/')
  const id = 'a'.repeat(64)
  const signatures = ['2'.repeat(80), '3'.repeat(80)]
  const members = signatures.map((signature, at) => ({
    ...{
      signature,
      bundle_id: id,
      status: 'confirmed',
      state: 'confirmed',
      err: null,
      slot: 9,
      routes: ['jito']
    },
    received_at: '2026-11-29T10:00:00.000Z',
    first_sent_at: '2026-11-29T10:00:00.100Z',
    last_sent_at: '2026-11-29T10:00:00.100Z',
    ...{ landed_ms: 700 + at * 50, rebroadcasts: 0 }
  }))
  await page.route('**/v1/tx?**', (route) =>
    route.fulfill({ json: { tenant: 'acme', data: members, nextCursor: null } })
  )
  await page.route(`**/v1/tx/bundle/${id}/status`, (route) =>
    route.fulfill({
      json: {
        ...{ tenant: 'acme', bundle_id: id, status: 'landed', landed_slot: 9, signatures },
        ...{ confirmation_status: 'confirmed', err: null, reason: null, tip_lamports: 5_000 },
        submitted_at: '2026-11-29T10:00:00.000Z',
        updated_at: '2026-11-29T10:00:02.000Z'
      }
    })
  )
  await page.goto(`${world.proxy.url}#/tenant/transactions`)
  const bundle = page.locator('.bundle')
  await bundle.locator('.timeline').waitFor()
  t.equal(
    await bundle.locator('.timeline').getAttribute('aria-label'),
    'submitted 2026-11-29T10:00:00.000Z, sent +100 ms, landed +850 ms, confirmed +2,000 ms'
  )
  const places = await bundle
    .locator('.step')
    .evaluateAll((steps) => steps.map((step) => (step as unknown as { style: { left: string } }).style.left))
  t.same(places, ['0%', '5%', '42.5%', '100%'])
  t.equal(await bundle.locator('li').count(), 2)
})

testInBrowser(t, 'the image of a token comes through the service alone', async (t, browser) => {
  const stated = {
    description: 'a <b>token</b>',
    website: 'https://site.example/',
    twitter: null,
    telegram: null,
    discord: null
  }
  const fields = { image: 'https://images.example/1.png', ...stated }
  const requested: string[] = []
  const accounts = fakeAccounts(
    undefined,
    { read: async (uris) => uris.map(() => ({ kind: 'read', readAtMs: 1, fields })) },
    {
      read: async (url) => {
        requested.push(url)
        return { kind: 'read', image: { mediaType: 'image/png', bytes: PIXEL } }
      }
    }
  )
  const world = await openPageWorld(t, { accounts })
  accounts.node.put(TOKEN, {
    owner: TOKEN_PROGRAM_KEYS['spl-token'],
    data: mintData({ supply: 10n ** 15n, decimals: 6 })
  })
  const names = { mint: TOKEN, name: 'A', symbol: 'A', uri: 'https://host.example/1.json', authority: key(4) }
  accounts.node.put(metaplexAddress(TOKEN), { owner: METAPLEX_PROGRAM, data: metaplexData(names) })
  await world.commitTrades(1, 3)
  // The overview knows the mints that have been read.
  t.match((await world.app.get(`/v1/metadata/${MINT}`)).body, { off_chain: { image: fields.image } })
  const { page, complaints, strangers, later } = await openPage(browser, world, `#/token/${MINT}`)
  const image = page.locator('.token-head img.avatar')
  await later(async () => (await image.count()) === 1, 'the image is drawn')
  t.match(await image.getAttribute('src'), /^blob:/)
  t.equal(await image.evaluate((drawn) => (drawn as unknown as { naturalWidth: number }).naturalWidth), 1)
  t.same(requested, [fields.image], 'the service has fetched it once')
  await page.getByRole('button', { name: 'Metadata', exact: true }).click()
  await page.getByText('As its creator states it, not verified').waitFor()
  await page.getByText('a <b>token</b>').waitFor()
  t.equal(await page.locator('a[href*="site.example"]').count(), 0, 'a link of a stranger is text')
  t.same(complaints, [])
  t.same(
    strangers.filter((url) => !url.startsWith('blob:')),
    [],
    'the browser requests nothing elsewhere'
  )
})

/** Follows a link as soon as the page is in the document, before the effects of its components have run. */
const FOLLOW_AT_ONCE = `new MutationObserver((_, observer) => {
  if (document.querySelector('#main') === null) return
  observer.disconnect()
  history.replaceState(null, '', '#/token/${MINT}')
  dispatchEvent(new HashChangeEvent('hashchange'))
}).observe(document, { childList: true, subtree: true })`

testInBrowser(
  t,
  'a link that is followed while the page is still drawn opens its view',
  async (t, browser) => {
    const world = await openPageWorld(t)
    await world.commitTrades(1, 3)
    const page = await openTestPage(browser)
    await page.addInitScript(`sessionStorage.setItem('millrace.key', '${world.key}')`)
    await page.addInitScript(FOLLOW_AT_ONCE)
    await page.goto(`${world.proxy.url}#/`)
    await page.locator('.virtual-box [data-key]').first().waitFor({ timeout: 30_000 })
    t.equal(await page.locator('#trending-title').count(), 0)
  }
)
