import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { ownDirectory } from '../own-directory.ts'
import { startBusyLocalnetProcess } from '../service/localnet-process.ts'
import { ADMIN_KEY } from '../service/service-process.ts'
import { FACT_WITHIN_MS } from '../until.ts'
import { testWithChromium } from './chromium.ts'

const NAME = 'a page of another origin and an extension send, subscribe and confirm with web3.js and the kit'
const HTML = '<!doctype html><title>wallet</title><script src="wallet.js"></script>'

testWithChromium(t, NAME, async (t, executablePath) => {
  const script = await walletScript()
  const directory = ownDirectory(t)
  const extension = join(directory, 'extension')
  await unpackExtension(extension, script)
  // Chromium names an unpacked extension after its path.
  const digest = createHash('sha256').update(extension).digest('hex').slice(0, 32)
  const id = digest.replace(/./g, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 16)))
  const port = await servePage(t, script)
  const service = await startBusyLocalnetProcess(t, join(directory, 'data'), [
    '--localnet-slot-ms',
    '100',
    '--rpc-allow',
    'requestAirdrop'
  ])
  const urlFor = async (...origins: readonly string[]): Promise<string> =>
    `${service.url}/v1/rpc?api-key=${await makeKey(service.url, origins)}`
  const urls = {
    page: await urlFor(`rpc:http://127.0.0.1:${port}`),
    extension: await urlFor(`chrome-extension://${id}`),
    nobody: await urlFor()
  }
  const context = await chromium.launchPersistentContext(join(directory, 'profile'), {
    executablePath,
    args: ['--no-sandbox', `--disable-extensions-except=${extension}`, `--load-extension=${extension}`],
    ignoreDefaultArgs: ['--disable-extensions']
  })
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(FACT_WITHIN_MS)
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  t.teardown(() => {
    if (!t.passing()) for (const text of complaints) t.comment(text)
  })

  await page.goto(`http://127.0.0.1:${port}/`)
  await usesWallet(t, page, urls.page, 'the page')
  await seesReasons(t, page, urls.page, urls.nobody)
  const demoKey = service.stdout.map((line) => /^demo key.* (\S+)$/.exec(line)?.[1]).find(Boolean)
  t.match(await post(page, `${service.url}/v1/rpc?api-key=${demoKey}`), /^200 /, 'the demo key')
  const pageSocket = urls.page.replace('http', 'ws')
  t.ok(await opens(page, pageSocket))
  t.notOk(await opens(page, pageSocket.replace('/v1/rpc', '/v1/stream')), 'listed for rpc alone')

  await page.goto(`http://localhost:${port}/`)
  t.equal(await post(page, urls.page), 'hidden', 'another origin')
  t.notOk(await opens(page, pageSocket))

  await page.goto(`chrome-extension://${id}/wallet.html`)
  await usesWallet(t, page, urls.extension, 'the extension')
  await seesReasons(t, page, urls.extension, urls.nobody)
  t.equal((await post(page, urls.page)).slice(0, 3), 'hid', 'the key of the page')
  t.notOk(await opens(page, pageSocket))
})

/** Sends, subscribes and confirms in a page. */
async function usesWallet(t: Test, page: Page, url: string, name: string): Promise<void> {
  for (const [library, lamports] of [
    ['web3', 5_000_000],
    ['kit', 7_000_000]
  ] as const) {
    const seen: unknown = await page.evaluate(`wallet.${library}(${JSON.stringify(url)})`)
    t.match(seen, { lamports, slots: Number, confirmed: /^\w{80,90}$/ }, `${name}, ${library}`)
  }
}

/** A page of a listed origin reads why it is refused. */
async function seesReasons(t: Test, page: Page, url: string, another: string): Promise<void> {
  t.match(await post(page, url), /^200 .*"result":\d+/)
  t.match(await post(page, `${url}x`), /^401 .*not known/)
  t.match(await post(page, url.replace(/\?.*/, '')), /^401 .*send an API key/)
  t.match(await post(page, url.replace('/rpc?', '/nothing?')), /^404 .*no such route/)
  t.match(await post(page, url.replace('/rpc?', '/health?')), /^405 .*this route accepts GET/)
  t.equal(await post(page, another), 'hidden', 'the preflight has the key, whose list decides')
}

const post = (page: Page, url: string): Promise<string> =>
  page.evaluate(`wallet.post(${JSON.stringify(url)})`)
const opens = (page: Page, url: string): Promise<boolean> =>
  page.evaluate(`wallet.opens(${JSON.stringify(url)})`)

/** Bundles the session with the libraries for a browser, as a page of a wallet is built. */
async function walletScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'wallet-session.ts')],
    bundle: true,
    format: 'iife',
    globalName: 'wallet',
    platform: 'browser',
    target: 'chrome120',
    define: { global: 'globalThis' },
    write: false,
    logLevel: 'error'
  })
  return outputFiles[0]!.text
}

/** Writes an extension without rights of its own: the browser holds it to CORS, as a page. */
async function unpackExtension(directory: string, script: string): Promise<void> {
  const manifest = { manifest_version: 3, name: 'A wallet', version: '1.0' }
  await mkdir(directory)
  await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest))
  await writeFile(join(directory, 'wallet.html'), HTML)
  await writeFile(join(directory, 'wallet.js'), script)
}

/** Serves the page of a wallet on loopback. */
async function servePage(t: Test, script: string): Promise<number> {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/wallet.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : HTML)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as { port: number }).port
}

async function makeKey(url: string, origins: readonly string[]): Promise<string> {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  const ask = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, unknown>
  }
  await ask('/v1/admin/tenants', { name: 'wallet' })
  const made = await ask('/v1/admin/keys', {
    tenant: 'wallet',
    scopes: ['rpc:read', 'rpc:send', 'stream'],
    cors_origins: origins
  })
  return String(made['key'])
}
