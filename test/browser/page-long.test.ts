import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import t from 'tap'
import { ownDirectory } from '../own-directory.ts'
import { until } from '../service/asking.ts'
import { startBusyLocalnetProcess, startLocalnetProcess } from '../service/localnet-process.ts'
import { ADMIN_KEY } from '../service/service-process.ts'
import { openTestPage, openWatchedPage, openWithDemoKey, testInBrowser } from './chromium.ts'
import { drawnCursors } from './page-world.ts'
import { startPrefixProxy } from './prefix-proxy.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const FAST = ['--localnet-slot-ms', '150']
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

/** Returns the serious violations of accessibility rules that axe finds. */
async function seriousViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const found = await page.evaluate<readonly Violation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)"
  )
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200) ?? ''}`)
}

/**
 * Returns the cursors of the rows that a tape has at the beginning, by scrolling through it. Of rows that arrive meanwhile, above
 * those that are drawn, only some would be seen.
 */
async function cursorsOf(page: Page): Promise<number[]> {
  return page.evaluate<number[]>(`(async () => {
    const box = document.querySelector('.virtual-box')
    const found = new Set()
    let newest = null
    for (let top = 0; ; top += 300) {
      box.scrollTop = top
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      for (const row of box.querySelectorAll('[data-key]')) found.add(Number(row.dataset.key))
      newest ??= Math.max(...found)
      if (top > box.scrollHeight) break
    }
    box.scrollTop = 0
    return [...found].filter((cursor) => cursor <= newest).sort((a, b) => b - a)
  })()`)
}

testInBrowser(t, 'axe finds nothing serious in any view, dark and light', async (t, browser) => {
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), FAST)
  const { body } = await service.get(`/v1/tokens/${WSOL}/trades?limit=1`)
  const { trader, pool, signature } = body.data[0] as Readonly<Record<string, string>>
  const views = [
    ...['#/', `#/token/${WSOL}`, `#/wallet/${trader}`, `#/pool/${pool}`, `#/tx/${signature}`],
    ...['account', 'stream', 'webhooks', 'transactions', 'revenue', 'coverage'].map(
      (name) => `#/tenant/${name}`
    ),
    ...['tree', 'nodes', 'index', 'tenants'].map((name) => `#/operator/${name}`)
  ]
  for (const colorScheme of ['dark', 'light'] as const) {
    const watched = await openWatchedPage(browser, service.url, { colorScheme, reducedMotion: 'reduce' })
    const { page, complaints, strangers } = watched
    await page.addInitScript(`sessionStorage.setItem('millrace.key', '${ADMIN_KEY}')`)
    for (const view of views) {
      await page.goto(`${service.url}/${view}`)
      await page.locator('.panel').first().waitFor()
      await until(async () => (await page.locator('.loading').count()) === 0, `${view} has its answers`)
      t.same(await seriousViolations(page), [], `${colorScheme} ${view}`)
    }
    t.same(complaints, [])
    t.same(strangers, [])
    await page.close()
  }
})

/** Records when the events of trades were ingested, and when their rows were drawn, by the clock of this machine. */
const RECORD_EVENTS = `(() => {
  const ingested = new Map()
  window.ingested = ingested
  window.WebSocket = class extends WebSocket {
    constructor(...args) {
      super(...args)
      this.addEventListener('message', ({ data }) => {
        const { type, data: event, cursor } = JSON.parse(data)
        if (type === 'event' && event.kind === 'trade') ingested.set(String(cursor), event.ts_ms)
      })
    }
  }
})()`
const RECORD_ROWS = `(() => {
  const drawn = new Map()
  const look = () => {
    for (const { dataset } of document.querySelectorAll('.virtual-box [data-key]'))
      if (!drawn.has(dataset.key)) drawn.set(dataset.key, Date.now())
  }
  new MutationObserver(look).observe(document.querySelector('.virtual-box'), { childList: true })
  window.takeDelays = () =>
    [...drawn].flatMap(([cursor, ms]) => (ingested.has(cursor) ? [ms - ingested.get(cursor)] : []))
})()`

testInBrowser(t, 'a stream that is cut and comes back leaves no hole in the tape', async (t, browser) => {
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), FAST)
  const proxy = await startPrefixProxy(t, 'cut', service.url)
  const page = await openTestPage(browser)
  await page.addInitScript(RECORD_EVENTS)
  let sockets = 0
  page.on('websocket', () => sockets++)
  await openWithDemoKey(page, `${proxy.url}#/token/${WSOL}`)
  const table = page.locator('.virtual')
  await table.waitFor()
  const shown = async (): Promise<number> => Number(await table.getAttribute('aria-rowcount'))
  const first = await shown()
  await page.evaluate(RECORD_ROWS)
  await until(async () => (await shown()) > first + 10, 'trades arrive')
  // Events state the time of their ingest, before the commit. The bar of 500 ms is that of loadtest/page.ts.
  const delaysOf = async (): Promise<number[]> =>
    (await page.evaluate<number[]>('takeDelays()')).toSorted((a, b) => a - b)
  await until(async () => (await delaysOf()).length > 5, 'rows of events are drawn')
  const delays = await delaysOf()
  t.ok(delays[0]! > -1_000, `the earliest after ${delays[0]} ms`)
  t.comment(`from ingest to the screen: p50 ${delays[delays.length >> 1]} ms, largest ${delays.at(-1)} ms`)
  for (let cut = 0; cut < 2; cut++) {
    const before = sockets
    proxy.cut()
    await until(() => Promise.resolve(sockets > before), 'the page reconnects')
    const count = await shown()
    await until(async () => (await shown()) > count + 3, 'trades arrive again')
  }
  const tape = await cursorsOf(page)
  const { body } = await service.get(`/v1/tokens/${WSOL}/trades?limit=1000`)
  const stored = body.data.map(({ cursor }) => cursor as number)
  const [newest, oldest] = [tape[0]!, Math.max(tape.at(-1)!, stored.at(-1)!)]
  const between = (cursors: readonly number[]): number[] =>
    cursors.filter((cursor) => cursor <= newest && cursor >= oldest)
  t.ok(between(stored).length > 15)
  t.same(between(tape), between(stored), 'each stored trade is in the tape once')
})

testInBrowser(
  t,
  'the page works below a prefix, and resumes after a restart of the service',
  async (t, browser) => {
    const directory = ownDirectory(t)
    const service = await startBusyLocalnetProcess(t, directory, FAST)
    const proxy = await startPrefixProxy(t, 'millrace', service.url)
    const { page, complaints, strangers } = await openWatchedPage(browser, proxy.url.slice(0, -1))
    await openWithDemoKey(page, `${proxy.url}#/token/${WSOL}`)
    await page.locator('.chart canvas').first().waitFor()
    await page.locator('.fresh').first().waitFor()
    t.same(complaints, [])
    t.same(strangers, [], 'every request has the prefix')

    await page.getByRole('link', { name: 'API', exact: true }).click()
    await page.waitForSelector('.opblock')
    t.equal(page.url(), `${proxy.url}docs`)
    await page.getByRole('link', { name: 'The market' }).click()
    t.equal(page.url(), proxy.url)
    await page.goto(`${proxy.url}#/token/${WSOL}`)
    // Launches of the market, which is still drawn for a moment, are fresh too.
    await page.locator('.virtual-box .fresh').first().waitFor()

    await service.end('SIGTERM')
    await page.locator('.problem').first().waitFor()
    const next = await startLocalnetProcess(t, directory, FAST)
    proxy.target = next.url
    await until(async () => (await page.locator('.problem').count()) === 0, 'the problems are gone')
    const newest = async (): Promise<number> => (await drawnCursors(page))[0] ?? 0
    const before = await newest()
    t.ok(before > 0, 'the tape has rows')
    await until(async () => (await newest()) > before, 'trades arrive without a reload')
  }
)

testInBrowser(t, 'ten thousand rows scroll, and only the visible ones are drawn', async (t, browser) => {
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), FAST)
  const { page, complaints } = await openWatchedPage(browser, service.url)
  const { body } = await service.get(`/v1/tokens/${WSOL}/trades?limit=1`)
  const [sample] = body.data
  const first = sample!['cursor'] as number
  await page.route(`${service.url}/v1/tokens/${WSOL}/trades?**`, async (route) => {
    const after = Number(new URL(route.request().url()).searchParams.get('after') ?? 0)
    const data = Array.from({ length: 100 }, (_, at) => ({ ...sample, cursor: first - after - at }))
    await route.fulfill({ json: { tenant: 'demo', data, nextCursor: String(after + 100) } })
  })
  await openWithDemoKey(page, `${service.url}/#/token/${WSOL}`)
  const table = page.locator('.virtual')
  await table.waitFor()
  await until(async () => {
    await page.evaluate("document.querySelector('.virtual-box').scrollTop = 1e9")
    // The head is a row too.
    return Number(await table.getAttribute('aria-rowcount')) === 10_001
  }, 'all rows are read')
  t.ok((await page.locator('.virtual-box [data-key]').count()) < 60)
  t.same(complaints, [])
})

testInBrowser(t, 'a revoked key and a used-up quota are said, and the page stands', async (t, browser) => {
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), FAST)
  const admin = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: { 'x-api-key': ADMIN_KEY, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return (await answer.json()) as Readonly<Record<'id' | 'key', string>>
  }
  const makeKey = (limit: number) =>
    admin('POST', '/v1/admin/keys', {
      ...{ tenant: 'demo', name: 'of the test', scopes: ['data:read', 'stream'] },
      rate_limit_per_minute: limit
    })
  const { id, key } = await makeKey(600)
  const { page } = await openWatchedPage(browser, service.url)
  await page.addInitScript(`sessionStorage.setItem('millrace.key', '${key}')`)
  await page.goto(`${service.url}/#/token/${WSOL}`)
  await page.locator('.chart canvas').first().waitFor()
  await admin('DELETE', `/v1/admin/keys/${id}`)
  await page.getByRole('alert').filter({ hasText: 'revoked' }).waitFor()
  await page.getByRole('button', { name: 'Use another key' }).click()
  await page.getByRole('button', { name: 'Open with the demo key' }).waitFor()
  await page.close()

  const small = await makeKey(3)
  const other = await openTestPage(browser)
  await other.addInitScript(`sessionStorage.setItem('millrace.key', '${small.key}')`)
  await other.goto(`${service.url}/#/`)
  await other.locator('.problem', { hasText: 'this key may make 3 requests a minute' }).first().waitFor()
  t.ok(await other.locator('.search input').isVisible())
  await other.close()
})

testInBrowser(
  t,
  'a tenant cuts and resumes the stream, watches an address, and gets its rows',
  async (t, browser) => {
    const service = await startBusyLocalnetProcess(t, ownDirectory(t), FAST)
    const { page, complaints } = await openWatchedPage(browser, service.url)
    await openWithDemoKey(page, `${service.url}/#/tenant/stream`)
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    const frames = page.locator('.frames summary')
    await frames.filter({ hasText: '"type":"event"' }).first().waitFor()
    await page.getByRole('button', { name: 'Cut the connection' }).click()
    await frames.filter({ hasText: '· disconnected' }).first().waitFor()
    await frames.filter({ hasText: '→ {"subscribe":' }).first().waitFor()
    await frames.filter({ hasText: '"since":' }).first().waitFor()
    await frames.filter({ hasText: '· live:' }).first().waitFor()

    const { body } = await service.get(`/v1/tokens/${WSOL}/trades?limit=100`)
    const [first, ...others] = [...new Set(body.data.map(({ trader }) => trader as string))].slice(0, 30)
    await page.goto(`${service.url}/#/tenant/revenue`)
    await page.getByLabel('Watch', { exact: true }).fill(first!)
    await page.getByRole('button', { name: 'Watch', exact: true }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    // One of many traders trades soon.
    await page.evaluate(`Promise.all(${JSON.stringify(others)}.map((address) => fetch('v1/revenue/accounts', {
      method: 'POST',
      headers: { 'x-api-key': sessionStorage.getItem('millrace.key'), 'content-type': 'application/json' },
      body: JSON.stringify({ address })
    })))`)
    const ledger = page.locator('[aria-label="Rows of the ledger, newest first"] tbody tr')
    await until(async () => (await ledger.count()) > 0, 'the ledger has a row')
    await page.getByRole('button', { name: 'Draw' }).click()
    await page.locator('.days rect').first().waitFor({ state: 'attached' })
    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    const file = readFileSync(await (await downloaded).path(), 'utf8')
    t.match(file, /^ts,slot,signature,address,/)
    t.ok(file.split('\r\n').length > 2)
    t.same(complaints, [])

    await page.goto(`${service.url}/#/tenant/webhooks`)
    await page.getByLabel('URL', { exact: true }).fill('https://receiver.invalid/hook')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.locator('.problem', { hasText: 'public addresses' }).waitFor()
    await page.goto(`${service.url}/#/operator/tree`)
    await page.locator('.problem', { hasText: 'lacks the scope admin' }).waitFor()
  }
)
