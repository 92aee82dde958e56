import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { FACT_WITHIN_MS } from '../until.ts'

const PATH = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

/** Declares a test that starts a real browser itself. Without one it is reported as not run, and fails where `CI` is set. */
export function testWithChromium(
  t: Test,
  name: string,
  run: (t: Test, executablePath: string) => Promise<void>
): void {
  if (PATH === undefined) {
    const missing = `NOT RUN, there is no chromium in /usr/bin (apt-get install chromium): ${name}`
    process.stderr.write(`${missing}\n`)
    if (process.env.CI) t.fail(missing)
    else void t.test(missing, { skip: 'NOT RUN' }, () => undefined)
    return
  }
  const executablePath = PATH
  void t.test(name, (t) => run(t, executablePath))
}

/** Declares a test in a real browser, as `testWithChromium` does. `args` are further flags of the browser. */
export function testInBrowser(
  t: Test,
  name: string,
  run: (t: Test, browser: Browser) => Promise<void>,
  args: readonly string[] = []
): void {
  testWithChromium(t, name, async (t, executablePath) => {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', ...args] })
    t.teardown(() => browser.close())
    await run(t, browser)
  })
}

/** Opens a page that is waited for as long as any other fact: the browser's own limit of 30 s depends on the machine's speed. */
export async function openTestPage(
  browser: Pick<Browser, 'newPage'>,
  options: BrowserContextOptions = {}
): Promise<Page> {
  const page = await browser.newPage(options)
  page.setDefaultTimeout(FACT_WITHIN_MS)
  return page
}

/** A page, with everything that it complains about and requests. */
export interface WatchedPage {
  readonly page: Page
  /** Errors and warnings of the console, and errors that nobody caught. */
  readonly complaints: readonly string[]
  /** Requests to other places than the service. */
  readonly strangers: readonly string[]
}

/** Opens a page of a service whose complaints and requests are recorded. */
export async function openWatchedPage(
  browser: Browser,
  serviceUrl: string,
  options: BrowserContextOptions = {}
): Promise<WatchedPage> {
  const page = await openTestPage(browser, options)
  const complaints: string[] = []
  const strangers: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${serviceUrl}/`) && !url.startsWith('data:')) strangers.push(url)
  })
  page.on('websocket', (socket) => {
    if (!socket.url().startsWith(`${serviceUrl.replace('http', 'ws')}/v1/stream`))
      strangers.push(socket.url())
  })
  return { page, complaints, strangers }
}

/** Opens the page with the demo key of a localnet, as a user does. */
export async function openWithDemoKey(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('button', { name: 'Open with the demo key' }).click()
  await page.getByRole('button', { name: 'Leave' }).waitFor()
}
