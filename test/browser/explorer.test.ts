import { existsSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'
import t from 'tap'
import { fixturesDirectory, testWithFixtures } from '../fixtures.ts'
import { ADMIN_KEY, startProcess } from '../service/service-process.ts'

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const NAME = 'the explorer takes a key, executes a request and shows its answer, without leaving the service'

if (BROWSER === undefined) {
  const missing = `NOT RUN, there is no chromium in /usr/bin (apt-get install chromium): ${NAME}`
  process.stderr.write(`${missing}\n`)
  if (process.env.CI) t.fail(missing)
  else void t.test(missing, { skip: 'NOT RUN' }, () => undefined)
} else {
  const executablePath = BROWSER
  testWithFixtures(t, NAME, async (t) => {
    const service = await startProcess({ dataDir: t.testdir(), recordedDir: fixturesDirectory() })
    t.teardown(() => service.end('SIGTERM'))
    await service.said(/the source has no more blocks/)
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    t.teardown(() => browser.close())
    const page = await browser.newPage({ viewport: { width: 1280, height: 1400 } })
    const complaints: string[] = []
    const requested: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => requested.push(request.url()))

    await page.goto(`${service.url}/`)
    t.equal(page.url(), `${service.url}/docs`)
    await page.waitForSelector('.opblock')
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
}

/** Enters a key as a user does. */
async function authorize(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  const dialog = page.locator('.modal-ux')
  await dialog.locator('input').first().fill(key)
  await dialog.locator('button.authorize').first().click()
  await dialog.getByRole('button', { name: 'Close' }).first().click()
}
