import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { ownDirectory } from '../own-directory.ts'
import { until } from '../service/asking.ts'
import { startBusyLocalnetProcess, type LocalnetProcess } from '../service/localnet-process.ts'
import { openTestPage, openWatchedPage, openWithDemoKey, testInBrowser } from './chromium.ts'
import { measureContrast } from './contrast.ts'

const NAME =
  'the page shows a moving market, tokens, wallets, pools and transactions, and explains each number'
const WSOL = 'So11111111111111111111111111111111111111112'
/** A name that would run in a page which takes it for markup, changes the direction of its line, and is 10 KB long. */
const HOSTILE = `<img src=x onerror="document.title='run'">\u202e\u0000🦦${'long'.repeat(2_500)}`

testInBrowser(t, NAME, async (t, browser) => {
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '200'])
  const watched = await openWatchedPage(browser, service.url, { viewport: { width: 1280, height: 900 } })
  const { page, complaints, strangers } = watched
  await openWithDemoKey(page, `${service.url}/`)

  await page.locator('#trending-title').waitFor()
  await page.locator('.market tbody tr').nth(3).waitFor()
  await checkExplanation(t, page, service)

  await page.goto(`${service.url}/#/token/${WSOL}`)
  await checkChart(t, page, service)
  const shown = page.getByText(/^[\d,]+ shown$/)
  const before = await shown.innerText()
  await until(async () => (await shown.innerText()) !== before, 'trades arrive without a reload')

  // The keyboard finds a token: focus by `/`, Enter opens the chosen hit.
  await page.keyboard.press('/')
  await page.keyboard.type('usdc')
  await page.locator('#search-hits li', { hasText: 'USDC' }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'USDC' }).waitFor()
  await page.goto(`${service.url}/#/token/${WSOL}`)

  await page.getByRole('button', { name: 'Holders', exact: true }).click()
  await page.locator('.treemap rect').nth(5).waitFor()
  await page.getByRole('button', { name: 'Pools', exact: true }).click()
  await page.locator('[aria-label="Pools of the token"] a').first().click()
  await page.locator('.minutes').waitFor()
  const row = page.locator('.virtual-box [role="row"]').first()
  const signature = (await row.locator('a[href^="#/tx/"]').getAttribute('href'))!
  // Rows move as trades arrive: a pointer may be pressed on one link and released on another, which opens neither.
  await row.locator('a[href^="#/wallet/"]').press('Enter')
  await page.locator('[aria-label="Holdings"] tbody tr').first().waitFor()
  await page.goto(`${service.url}/${signature}`)
  await page.locator('.call h3').first().waitFor()
  await page.locator('#movements-title').waitFor()

  for (const [view, reason] of [
    ['#/token/not-an-address', 'base58'],
    ['#/token/11111111111111111111111111111112', 'not indexed'],
    ['#/tx/111', 'The node refuses']
  ] as const) {
    await page.goto(`${service.url}/${view}`)
    await page.locator('.problem', { hasText: reason }).first().waitFor()
  }
  t.same(
    // On a busy machine some answers exceed their deadline, and the page requests them again.
    complaints.filter((text) => !/status of (40[04]|503)/.test(text)),
    [],
    'the console is quiet, but for the refused addresses'
  )
  t.same(strangers, [], 'no request leaves the service')
  await page.close()

  await checkHostileNames(t, await openTestPage(browser), service)
  for (const colorScheme of ['dark', 'light'] as const) {
    const narrow = await openTestPage(browser, {
      viewport: { width: 375, height: 812 },
      colorScheme,
      reducedMotion: 'reduce'
    })
    await openWithDemoKey(narrow, `${service.url}/#/token/${WSOL}`)
    await narrow.locator('.virtual-box [role="row"]').first().waitFor()
    t.equal(
      await narrow.evaluate('document.documentElement.scrollWidth - innerWidth'),
      0,
      'nothing is wider than a phone'
    )
    const { measured, faults } = await measureContrast(narrow)
    t.ok(measured > 60)
    t.same(faults, [], `${colorScheme}: every text has the contrast of WCAG AA`)
    await narrow.close()
  }
})

/** A click shows the rule of the API's document and a request, which gives the field. */
async function checkExplanation(t: Test, page: Page, service: LocalnetProcess): Promise<void> {
  await page.locator('.tile', { hasText: 'Trades indexed' }).getByRole('button').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('curl').waitFor()
  await until(async () => /Trades\b/.test(await dialog.locator('dd').first().innerText()), 'the rule is read')
  const text = await dialog.innerText()
  const { body } = await service.get('/openapi.json', null)
  const { components } = body as unknown as {
    components: {
      schemas: Record<
        string,
        { properties: Record<string, { properties: Record<string, { description: string }> }> }
      >
    }
  }
  const rule = components.schemas['Stats']!.properties['totals']!.properties['trades']!.description
  t.ok(text.includes(rule), rule)
  t.match(text, 'totals.trades')
  const path = /'http[^']+?(\/v1\/[^']+)'/.exec(text)![1]!
  const answer = (await service.get(path)).body as unknown as { totals: { trades: number } }
  t.ok(answer.totals.trades > 0, path)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
}

/** The last candle that the chart holds is the last one of REST, while trades arrive. */
async function checkChart(t: Test, page: Page, service: LocalnetProcess): Promise<void> {
  await page.getByText('The newest candles as a table').click()
  const cells = page.locator('.candle-table tbody tr').first()
  await cells.waitFor()
  const equal = await until(async () => {
    const { body } = await service.get(`/v1/tokens/${WSOL}/candles?interval=1m&limit=1&currency=usd`)
    const last = body.data.at(-1)!
    const values = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.candle-table tbody tr:first-child data')].map((each) => each.value)"
    )
    const [start] = await cells.locator('td').allInnerTexts()
    const fields = ['open', 'high', 'low', 'close', 'volume_usd', 'trades'] as const
    return start === last['ts'] && fields.every((field, at) => values[at] === String(last[field]))
      ? values
      : null
  }, 'the last candle of the chart equals the last one of REST')
  t.equal(equal.length, 6)
  t.ok((await page.locator('.chart canvas').count()) > 0)
}

/** Names of tokens are text, of one line and a limited length. */
async function checkHostileNames(t: Test, page: Page, service: LocalnetProcess): Promise<void> {
  for (const path of ['/v1/trending?', '/v1/launches?']) {
    await page.route(`${service.url}${path}**`, async (route) => {
      const answer = await route.fetch()
      const body = (await answer.json()) as { data: Record<string, unknown>[] }
      for (const entry of body.data) Object.assign(entry, { name: HOSTILE, symbol: HOSTILE })
      await route.fulfill({ response: answer, json: body })
    })
  }
  await openWithDemoKey(page, `${service.url}/`)
  const name = page.locator('.market tbody .symbol').first()
  await name.waitFor()
  const text = await name.innerText()
  t.match(text, /^<img src=x/, 'it is shown as text')
  t.notMatch(text, /[\u202e\u0000]/)
  t.ok(text.length < 60)
  t.equal(await page.locator('img').count(), 0)
  t.equal(await page.title(), 'Millrace', 'nothing has run')
  // The page may be loading again.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.close()
}
