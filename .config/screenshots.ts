import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'

/**
 * Writes screenshots of the page on a new localnet, for a person to look at: every view, wide and narrow, dark and light, into a
 * folder (`.tap/screenshots`), and the README's picture.
 *
 *     node .config/screenshots.ts [FOLDER]
 */

const ROOT = resolve(import.meta.dirname, '..')
const PICTURE = join(ROOT, 'src/docs/page.png')
const BROWSER = '/usr/bin/chromium'
const ADMIN_KEY = 'an-admin-key-of-the-screenshots'
/** Milliseconds for a view to draw its answers. */
const DRAWN_MS = 4_000

interface Listed {
  readonly data: readonly Readonly<Record<string, string | null>>[]
}

const [folder = join(ROOT, '.tap/screenshots')] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const dataDir = mkdtempSync(join(tmpdir(), 'millrace-screenshots-'))
const service = spawn(
  process.execPath,
  [
    join(ROOT, 'src/kernel/cli/millrace.js'),
    'serve',
    '--data-dir',
    dataDir,
    '--port',
    '0',
    '--admin-key',
    ADMIN_KEY
  ],
  { stdio: ['ignore', 'pipe', 'ignore'] }
)
try {
  const url = await listening()
  await live(url)
  const [token] = (await read<Listed>(url, '/v1/trending?window=1h&limit=20&exclude_cash=true')).data.filter(
    ({ symbol }) => symbol !== null
  )
  const mint = token!['mint']!
  const [trade] = (await read<Listed>(url, `/v1/tokens/${mint}/trades?limit=1`)).data
  const views = {
    market: '#/',
    token: `#/token/${mint}`,
    wallet: `#/wallet/${trade!['trader']}`,
    pool: `#/pool/${trade!['pool']}`,
    transaction: `#/tx/${trade!['signature']}`,
    tenant: '#/tenant/account',
    stream: '#/tenant/stream',
    revenue: '#/tenant/revenue',
    tree: '#/operator/tree',
    index: '#/operator/index',
    tenants: '#/operator/tenants'
  }
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] })
  for (const width of [1280, 375])
    for (const colorScheme of ['dark', 'light'] as const) {
      const page = await browser.newPage({
        viewport: { width, height: width === 375 ? 812 : 860 },
        colorScheme
      })
      await page.addInitScript(`sessionStorage.setItem('millrace.key', '${ADMIN_KEY}')`)
      for (const [name, view] of Object.entries(views)) {
        await draw(page, `${url}/${view}`)
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
        if (name === 'token' && width === 1280 && colorScheme === 'dark')
          await page.screenshot({ path: PICTURE })
      }
      await page.close()
    }
  await browser.close()
  console.log(`screenshots are in ${folder}; the README's is ${PICTURE}`)
} finally {
  service.kill('SIGTERM')
  await new Promise((ended) => service.once('exit', ended))
  rmSync(dataDir, { recursive: true, force: true })
}

/** Opens a view anew and waits until it is drawn. */
async function draw(page: Page, url: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(url)
  await page.locator('.panel').first().waitFor()
  await delay(DRAWN_MS)
}

/** Returns the URL that the service prints when it listens. */
async function listening(): Promise<string> {
  for await (const line of createInterface(service.stdout)) {
    const [, url] = /^listening on (\S+)/.exec(line) ?? []
    if (url !== undefined) return url
  }
  throw new Error('the service ended before it listened')
}

/** Waits until the past of the localnet is indexed. */
async function live(url: string): Promise<void> {
  for (;;) {
    const { status } = (await (await fetch(`${url}/v1/health`)).json()) as { readonly status: string }
    if (status === 'ok') break
    await delay(500)
  }
  // The names of established tokens are read within a minute.
  await delay(60_000)
}

async function read<T>(url: string, path: string): Promise<T> {
  return (await (await fetch(url + path, { headers: { 'x-api-key': ADMIN_KEY } })).json()) as T
}
