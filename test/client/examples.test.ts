import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import {
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners
} from '@solana/kit'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import t from 'tap'
import { createMillrace, type Holder } from '../../src/client/client.ts'
import { WSOL } from '../../src/market/cash.ts'
import { openTestPage } from '../browser/chromium.ts'
import { ownDirectory } from '../own-directory.ts'
import { freePort } from '../servers/free-port.ts'
import { notRun } from '../servers/not-run.ts'
import { startBusyLocalnetProcess } from '../service/localnet-process.ts'
import { PATIENT, until } from '../until.ts'
import { EXAMPLES, runExample, startExample } from './example-program.ts'

// One service for all of them, with the demo key that it prints on its first start.
const service = await startBusyLocalnetProcess(t, ownDirectory(t), [
  ...['--localnet-slot-ms', '100'],
  ...['--rate-limit-per-minute', '100000', '--work-per-minute', '1000000000']
])
const key = service.stdout.map((line) => /^demo key.* (\S+)$/.exec(line)?.[1]).find(Boolean)!
const environment = { MILLRACE_URL: service.url, MILLRACE_KEY: key }
const millrace = createMillrace({ url: service.url, key })
t.teardown(() => millrace.close())

/** States of a transaction that lands, in their order. */
const STATES = ['sent', 'processed', 'confirmed', 'finalized']

/** Returns the rows of CSV without quotes, by the names of its header. */
function rowsOf(csv: string): Record<string, string>[] {
  const [header, ...lines] = csv.trim().split('\n')
  const names = header!.split(',')
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, at) => [names[at]!, value])))
}

/** Starts a server of this test and returns its URL. */
async function serve(t: { teardown(end: () => void): void }, server: ReturnType<typeof createServer>) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

t.test(
  'a transaction of kit is sent over the URLs of rpc, and followed over the stream to its end',
  async (t) => {
    const rpc = createSolanaRpc(millrace.rpc.url)
    const ending = new AbortController()
    t.teardown(() => ending.abort())
    const slots = await createSolanaRpcSubscriptions(millrace.rpc.socketUrl)
      .slotNotifications()
      .subscribe({ abortSignal: ending.signal })
    const payer = await generateKeyPairSigner()
    const airdrop = await millrace.rpc.call<string>('requestAirdrop', [payer.address, 1_000_000_000])
    t.match(await millrace.tx.wait(airdrop), { status: /confirmed|finalized/, state: null })
    const { value: blockhash } = await rpc.getLatestBlockhash().send()
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (made) => setTransactionMessageFeePayerSigner(payer, made),
      (made) => setTransactionMessageLifetimeUsingBlockhash(blockhash, made)
    )
    const signed = await signTransactionMessageWithSigners(message)
    const { signature } = await millrace.tx.send(getBase64EncodedWireTransaction(signed))
    const states: unknown[] = []
    for await (const { state } of millrace.tx.follow(signature)) states.push(state)
    t.equal(states.at(-1), 'finalized')
    // On a busy machine it may be final before it is followed.
    const places = states.map((state) => STATES.indexOf(String(state)))
    t.strictSame(
      places,
      places.toSorted((a, b) => a - b),
      String(states)
    )
    t.match(await millrace.tx.send(getBase64EncodedWireTransaction(signed)), { signature, repeated: true })
    for await (const { slot } of slots) {
      t.ok(slot > 0n)
      break
    }
  }
)

t.test('a list over several pages has each row once, as a single page has them', async (t) => {
  const newest = await millrace.tokens.trades(WSOL, { limit: 1 })
  // Rows after a cursor of the newest page stay where they are.
  const after = newest.nextCursor!
  const rows = await millrace.tokens.trades(WSOL, { limit: 7, after }).take(40)
  const { data } = await millrace.tokens.trades(WSOL, { limit: 40, after })
  t.same(
    rows.map(({ cursor }) => cursor),
    data.map(({ cursor }) => cursor)
  )
  t.match(millrace.quotas, { calls: { left: Number }, work: { left: Number } })
})

t.test('every example has a section of the README that names its file', async (t) => {
  const sections = readFileSync(join(EXAMPLES, 'README.md'), 'utf8').split('\n## ').slice(1)
  const files = readdirSync(EXAMPLES).filter((name) => name !== 'README.md')
  t.equal(files.length, 9)
  for (const file of files) {
    const own = sections.filter((section) => section.includes(file))
    t.equal(own.length, 1, file)
    t.ok(own[0]!.trim().split('\n').length <= 14, `${file}: ten lines and the space between them`)
  }
})

t.test('price alert: a crossing is posted, with the side and the price', async (t) => {
  const posts: Record<string, unknown>[] = []
  const receiver = createServer((request, response) => {
    void json(request).then((body) => posts.push(body as Record<string, unknown>))
    response.writeHead(204).end()
  })
  const url = await serve(t, receiver)
  // A limit between two prices of the stream is crossed soon again.
  const prices = new Set<number>()
  for await (const item of millrace.stream.subscribe([`price:${WSOL}`]))
    if (item.kind === 'price' && prices.add(item.data.price).size === 2) break
  const selected = millrace.stream.subscribe([`trades:${WSOL}`], { fields: ['price'] })
  const { value } = await selected.next()
  t.same(value?.kind === 'trade' ? Object.keys(value.data).toSorted() : value, ['kind', 'price'])
  await selected.return()
  const limit = [...prices].reduce((sum, price) => sum + price) / 2
  const alert = startExample(t, 'price-alert.ts', [WSOL, String(limit), url], environment)
  const line = await alert.line()
  await until(() => posts.length > 0, 'the post')
  const [post] = posts
  t.equal(post!.direction, Number(post!.price) >= limit ? 'above' : 'below')
  t.match(post, { mint: WSOL, limit, text: /is (above|below)/, content: String, slot: Number })
  t.match(line, /: the receiver answered 204$/)
})

t.test('copy-trade watcher: resumes after its cursor, and prints each trade as an order', async (t) => {
  const { data } = await millrace.tokens.trades(WSOL, { limit: 1 })
  // A trade of the chain states its trader and its slot; one of an imported file may not.
  const wallet = data[0]!.trader!
  const trades = (await millrace.wallets.trades(wallet, { limit: 1_000 })).data.toReversed()
  const first = trades.at(-3) ?? trades[0]!
  const file = join(ownDirectory(t), 'wallet.cursor')
  // Before all events of its slot: on the channel of a wallet, a trade has a cursor behind those of REST.
  writeFileSync(file, String(first.slot! * 2 ** 20 - 1))
  const watcher = startExample(t, 'copy-trade.ts', [wallet, '0.5', file], environment)
  for (const trade of trades.filter(({ slot }) => slot! >= first.slot!)) {
    const order = JSON.parse(await watcher.line()) as Record<string, unknown>
    t.match(order, { action: 'order', signature: trade.signature, mint: trade.mint })
    t.equal(order.token_amount, trade.token_amount * 0.5)
    t.ok(Number.isInteger(order.age_ms))
    await until(() => Number(readFileSync(file, 'utf8')) >= Number(order.cursor), 'the cursor is stored')
  }
})

t.test('webhook receiver: stores the events of signed deliveries once, and refuses others', async (t) => {
  const file = join(ownDirectory(t), 'events.jsonl')
  const port = await freePort(['127.0.0.1'])
  const url = `http://127.0.0.1:${port}/`
  const { id, secret } = await millrace.webhooks.create({ url, channels: [`trades:${WSOL}`] })
  t.teardown(() => millrace.webhooks.delete(id))
  const receiver = startExample(t, 'webhook-receiver.ts', [String(port), file], { WEBHOOK_SECRET: secret })
  t.match(await receiver.line(), `listening on http://127.0.0.1:${port}`)
  t.match(await millrace.webhooks.test(id), { delivered: true, status_code: 204 })
  const stored = (): { channel: string; data: { cursor: number } }[] =>
    // The last piece is empty, or a line that is being written.
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { channel: string; data: { cursor: number } })
  await until(() => stored().some(({ channel }) => channel === `trades:${WSOL}`), 'a trade is stored')
  t.ok(stored().some(({ channel }) => channel === 'test'))
  const cursors = stored().flatMap(({ channel, data }) => (channel === 'test' ? [] : [data.cursor]))
  t.equal(new Set(cursors).size, cursors.length)
  const forged = await fetch(url, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' }
  })
  t.equal(forged.status, 400)
  t.match(await forged.text(), /the header X-MR-Signature or webhook-signature is missing/i)
})

t.test('bundle sender: its bundle lands', async (t) => {
  const { code, stdout, stderr } = await runExample('bundle-sender.ts', ['5000000', 'p50'], environment)
  t.equal(code, 0, stderr)
  const [, bundleId] = /^bundle ([0-9a-f]{64}) with a tip of \d+ lamports/.exec(stdout) ?? []
  t.match(stdout, /landed in slot \d+ \((confirmed|finalized)\)/)
  t.match(await millrace.tx.bundles.status(bundleId!), { status: 'landed' })
})

t.test('treasury report: has each row of the ledger, and sums that are exact', async (t) => {
  const address = (await millrace.tokens.trades(WSOL, { limit: 1 })).data[0]!.trader!
  await millrace.revenue.watch({ address, label: 'Treasury, main' })
  t.teardown(() => millrace.revenue.unwatch(address))
  const isActive = async (): Promise<boolean> =>
    (await millrace.revenue.coverage()).addresses.every(({ status }) => status === 'active')
  await until(isActive, 'the ledger begins', PATIENT)
  await millrace.rpc.call('requestAirdrop', [address, 1_234_567_891])
  // The address also trades: rows of tokens may come first.
  const hasLamports = async (): Promise<boolean> =>
    (await millrace.revenue.events().take(1_000)).some(({ mint }) => mint === WSOL)
  await until(hasLamports, 'a row of lamports', PATIENT)
  const { code, stdout, stderr } = await runExample('treasury-report.ts', [], environment)
  t.equal(code, 0, stderr)
  const known = (await millrace.revenue.events({ order: 'asc' }).take(1_000)) as {
    delta_raw: string
    label: string
  }[]
  // The label has a comma, so its field is quoted.
  const rows = rowsOf(stdout.replaceAll('"Treasury, main"', 'label'))
  t.ok(rows.length > 0 && rows.length <= known.length)
  t.same(
    rows.map(({ delta_raw }) => delta_raw),
    known.slice(0, rows.length).map(({ delta_raw }) => delta_raw)
  )
  t.ok(rows.every(({ label }) => label === 'label'))
  const lamports = rows
    .filter(({ mint }) => mint === WSOL)
    .reduce((sum, { delta_raw }) => sum + BigInt(delta_raw!), 0n)
  const shown = /^(?:SOL|WSOL|So1\w+): (-?)(\d+)\.(\d{9}) /m.exec(stderr)!
  t.equal(BigInt(`${shown[1]}${shown[2]}${shown[3]}`), lamports, stderr)
})

t.test("holders' snapshot: the shares add up to the amount, and pools get nothing", async (t) => {
  const isExcluded = ({ is_pool, is_curve, is_burn }: Holder): boolean => is_pool || is_curve || is_burn
  // A token that few people have traded yet may have its curve as its only holder.
  const mint = await until(
    async () => {
      for (const token of (await millrace.market.trending({ exclude_cash: true, limit: 10 })).data) {
        const holders = await millrace.tokens.holders(token.mint).take(100)
        const excluded = holders.filter(isExcluded).length
        if (excluded > 0 && holders.length - excluded > 1) return token.mint
      }
      return null
    },
    'a token with a pool and two other holders',
    PATIENT
  )
  const { code, stdout, stderr } = await runExample('airdrop-snapshot.ts', [mint, '1000000007'], environment)
  t.equal(code, 0, stderr)
  const rows = rowsOf(stdout)
  t.ok(rows.length > 1)
  t.equal(
    rows.reduce((sum, { airdrop_raw }) => sum + BigInt(airdrop_raw!), 0n),
    1_000_000_007n
  )
  const excluded = (await millrace.tokens.holders(mint).take(1_000)).filter(isExcluded)
  for (const { owner } of excluded) t.notOk(rows.some((row) => row.owner === owner))
})

t.test('the usage is printed where an argument is missing or wrong', async (t) => {
  for (const [name, ...args] of [
    ['price-alert.ts', WSOL],
    ['price-alert.ts', WSOL, 'much', service.url],
    ['copy-trade.ts'],
    ['airdrop-snapshot.ts', WSOL, '1.5']
  ] as const) {
    const { code, stderr } = await runExample(name, args, environment)
    t.equal(code, 2)
    t.match(stderr, `node ${name}`)
  }
})

const IN_PYTHON = 'the notebook in Python: all of its cells run'
if (!hasPython()) notRun(t, IN_PYTHON, 'there is no python3')
else
  t.test(IN_PYTHON, async (t) => {
    const { code, stdout, stderr } = await runExample('notebook.py', [], environment)
    t.equal(code, 0, stderr)
    t.match(stdout, /^status ok$/m)
    t.match(stdout, /^\d+ hours, last close [\d.]+$/m)
    const [, trades] = /^(\d+) trades$/m.exec(stdout) ?? []
    t.ok(Number(trades) > 0)
    const refused = await runExample('notebook.py', [], { ...environment, MILLRACE_KEY: 'no key' })
    t.match(refused.stderr, /invalid_api_key: /)
  })

interface PanelTarget {
  readonly url: string
  readonly root_selector: string
  readonly columns: readonly { readonly selector: string; readonly type: string }[]
}

t.test('Grafana panels: each query is answered, with the columns that its panel shows', async (t) => {
  const { panels } = JSON.parse(readFileSync(join(EXAMPLES, 'grafana-panel.json'), 'utf8')) as {
    readonly panels: readonly { readonly title: string; readonly targets: readonly PanelTarget[] }[]
  }
  const nowSeconds = Math.floor(Date.now() / 1_000)
  for (const { title, targets } of panels)
    for (const { url, root_selector: root, columns } of targets) {
      const path = url
        .replaceAll('${mint}', WSOL)
        .replaceAll('${__from:date:seconds}', String(nowSeconds - 86_400))
        .replaceAll('${__to:date:seconds}', String(nowSeconds + 86_400))
      t.notMatch(path, /[${}]/, title)
      const body = (await (await millrace.fetch(path)).json()) as Record<string, unknown>
      const rows = (root === '' ? [body] : body[root]) as Record<string, unknown>[]
      t.ok(rows.length > 0, title)
      for (const { selector, type } of columns) {
        const values = rows.map((row) => row[selector]).filter((value) => value !== null)
        t.ok(values.length > 0, `${title}: ${selector}`)
        const expected = type === 'string' ? 'string' : 'number'
        t.ok(
          values.every((value) => typeof value === expected),
          `${title}: ${selector}`
        )
      }
    }
})

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const IN_BROWSER = 'the candle chart page draws the candles, and follows the stream from another origin'
if (BROWSER === undefined) notRun(t, IN_BROWSER, 'there is no chromium in /usr/bin')
else
  t.test(IN_BROWSER, async (t) => {
    const { outputFiles } = await build({
      entryPoints: [join(EXAMPLES, '../client.ts')],
      bundle: true,
      format: 'esm',
      write: false
    })
    const server = createServer((request, response) => {
      const [path = '/'] = request.url!.split('?')
      if (path === '/node_modules/millrace/dist/client/client.js')
        response.writeHead(200, { 'content-type': 'text/javascript' }).end(outputFiles[0]!.contents)
      else if (path === '/candle-chart.html')
        response.writeHead(200, { 'content-type': 'text/html' }).end(readFileSync(join(EXAMPLES, path)))
      else response.writeHead(404).end()
    })
    const { port } = new URL(await serve(t, server))
    const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] })
    t.teardown(() => browser.close())
    const page = await openTestPage(browser)
    const query = new URLSearchParams({ url: service.url, key, mint: WSOL, interval: '1s' })
    await page.goto(`http://localhost:${port}/candle-chart.html?${query.toString()}`)
    await page.waitForFunction(`document.getElementById('state').textContent.startsWith('live: ')`)
    const { data } = await millrace.tokens.candles(WSOL, { interval: '1s', limit: 120 })
    const drawn = Number(await page.evaluate(`document.querySelectorAll('#chart g').length`))
    t.ok(drawn > 1 && drawn <= data.length, `${drawn} candles`)
    t.equal(await page.textContent('#title'), `${WSOL}, 1s`)
    const refused = new URLSearchParams({ url: service.url, key: 'none' })
    await page.goto(`http://localhost:${port}/candle-chart.html?${refused.toString()}`)
    await page.waitForFunction(`document.getElementById('state').textContent.includes('invalid_api_key')`)
  })

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
