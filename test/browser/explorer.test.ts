import type { Page } from 'playwright-core'
import t from 'tap'
import { fixturesDirectory, testWithFixtures } from '../fixtures.ts'
import { startLocalnetProcess } from '../service/localnet-process.ts'
import { ADMIN_KEY, startProcess } from '../service/service-process.ts'
import { openTestPage, testInBrowser } from './chromium.ts'
import { measureContrast } from './contrast.ts'
import { ownDirectory } from '../own-directory.ts'

const CANDLES = '/v1/tokens/{mint}/candles'
const DEMO = 'Authorize with the demo key'
const NAME = 'the explorer takes a key, executes a request and shows its answer, without leaving the service'

testInBrowser(t, NAME, async (t, browser) => {
  testWithFixtures(t, 'on recorded blocks', async (t) => {
    const service = await startProcess({ dataDir: ownDirectory(t), recordedDir: fixturesDirectory() })
    t.teardown(() => service.end('SIGTERM'))
    await service.said(/the source has no more blocks/)
    const page = await openTestPage(browser, { viewport: { width: 1280, height: 1400 } })
    const complaints: string[] = []
    const requested: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => requested.push(request.url()))

    await page.goto(`${service.url}/`)
    await page.getByRole('link', { name: 'API', exact: true }).click()
    t.equal(page.url(), `${service.url}/docs`)
    await page.waitForSelector('.opblock')
    t.equal(await page.getByRole('button', { name: DEMO }).count(), 0, 'recorded blocks have no demo key')
    await authorize(page, ADMIN_KEY)

    const operation = page.locator('.opblock', { has: page.locator('[data-path="/v1/launches"]') })
    await operation.locator('.opblock-summary').click()
    const answered = page.waitForResponse((response) => response.url().includes('/v1/launches'))
    await operation.getByRole('button', { name: 'Execute' }).click()
    const response = await answered
    t.equal(response.status(), 200)
    t.equal(response.request().headers()['x-api-key'], ADMIN_KEY)
    const shown = operation.locator('.live-responses-table')
    await shown.waitFor()
    t.match(await shown.innerText(), /200[\s\S]*"tenant": "operator"[\s\S]*"mint":/)
    if (process.env.SCREENSHOT !== undefined) await page.screenshot({ path: process.env.SCREENSHOT })

    t.strictSame(complaints, [], 'the console is quiet')
    t.ok(requested.length > 5)
    t.strictSame(
      requested.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith('data:')),
      [],
      'no request leaves the service'
    )
  })
})

testInBrowser(
  t,
  'a localnet offers its demo key, shows a chart and streams, on a wide screen and a narrow one',
  async (t, browser) => {
    const service = await startLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '200'])
    const unasked = await service.get('/docs/demo-key', null)
    t.strictSame(unasked.body, { key: null }, 'only to its own page')
    for (const width of [1280, 375]) {
      const page = await openTestPage(browser, { viewport: { width, height: 900 } })
      const overflow = () => page.evaluate('document.documentElement.scrollWidth - innerWidth')
      await page.goto(`${service.url}/docs`)
      await page.getByRole('button', { name: DEMO }).click()
      await page.getByText('Tenant demo').waitFor()

      const candles = page.locator('.opblock', { has: page.locator(`[data-path="${CANDLES}"]`) })
      await candles.locator('.opblock-summary').click()
      const answered = page.waitForResponse((response) => response.url().includes('/candles'))
      await candles.getByRole('button', { name: 'Execute' }).click()
      const { data } = (await (await answered).json()) as { data: readonly unknown[] }
      t.ok(data.length >= 20, `${width}: ${data.length} candles make a chart`)

      const heights = await page.evaluate<number[]>(
        "[...document.querySelectorAll('.channels button')].map((each) => each.getBoundingClientRect().height)"
      )
      t.ok(heights.length > 5 && heights.every((height) => height < 45), `${width}: "Use" stands on one line`)
      t.notMatch(await page.locator('.channels').innerText(), '`', `${width}: code is marked up`)
      await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
      await page.locator('.log .received', { hasText: 'trades:' }).first().waitFor()
      t.equal(await overflow(), 0, `${width}: nothing is wider than the screen`)

      await page.getByRole('button', { name: 'Disconnect' }).click()
      await openAll(page)
      for (const colorScheme of ['light', 'dark'] as const) {
        await setColors(page, colorScheme)
        const { measured, faults } = await measureContrast(page)
        t.ok(measured > 500, `${width}, ${colorScheme}: ${measured} texts are measured`)
        t.strictSame(faults, [], `${width}, ${colorScheme}: every text has the contrast of WCAG AA`)
      }
      t.equal(await overflow(), 0, `${width}: nor is anything that was folded away`)
      for (const [role, name] of [
        ['textbox', 'mint'],
        ['combobox', 'interval']
      ] as const) {
        const field = candles.getByRole(role, { name, exact: true })
        t.equal(await field.count(), 1, `${width}: the field ${name} has its name`)
      }
      await page.keyboard.press('Tab')
      t.ok(
        await page.evaluate("document.activeElement.matches(':focus-visible')"),
        'the keyboard shows its focus'
      )
      await setColors(page, 'light')
      await page.evaluate('document.querySelector(\'link[href$="explorer.css"]\').remove()')
      const plain = await measureContrast(page)
      t.ok(
        plain.faults.some(({ text }) => text === 'GET'),
        'without our colors the badges are found to be too pale'
      )

      await page.reload()
      await page.getByText('Tenant demo').waitFor()
      t.pass('the key outlives a reload')
      await page.close()
      const another = await openTestPage(browser)
      await another.goto(`${service.url}/docs`)
      t.equal(await another.getByRole('button', { name: 'Forget the key' }).count(), 0, 'and not its tab')
      await another.close()
    }
  }
)

/** Switches the color scheme and waits until the page follows; without motion no color is half-way. */
async function setColors(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.waitForSelector(colorScheme === 'dark' ? 'html.dark-mode' : 'html:not(.dark-mode)')
}

/** Opens every disclosure of a page, nested ones included. */
async function openAll(page: Page): Promise<void> {
  const closed = page.locator('details:not([open])')
  while ((await closed.count()) > 0)
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
}

/** Enters a key as a user does. */
async function authorize(page: Page, key: string): Promise<void> {
  await page.getByLabel('Key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Authorize', exact: true }).click()
  await page.getByRole('button', { name: 'Forget the key' }).waitFor()
}
