import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { errorsOf } from '../../src/kernel/compose/product.ts'
import { PRODUCTS } from '../products/loaded-products.ts'
import { demoKeyFileOf } from '../../src/access/product.ts'
import { marketApp, type Body } from '../http/market-app.ts'

t.test('the explorer and its files are served from here, with a policy that permits just them', async (t) => {
  const app = await marketApp(t)
  const page = await app.get('/docs', {})
  t.match(page, { status: 200, type: 'text/html; charset=utf-8' })
  const policy = String(page.headers['content-security-policy'])
  t.match(policy, /default-src 'none'; script-src 'self';/)
  t.notMatch(policy, /http|\*|unsafe-eval|script-src[^;]*unsafe-inline/)
  const files = [...page.text.matchAll(/<(?:link|script)[^>]+(?:href|src)="([^"]+)"/g)].map(
    ([, file]) => file!
  )
  t.ok(files.length >= 5)
  for (const file of files) {
    t.match(file, /^docs\/[\w.-]+$/, 'lies here, below any prefix of a proxy')
    const answer = await app.get(`/${file}`, {})
    t.equal(answer.status, 200, file)
    t.ok(answer.text.length > 0)
    t.equal(answer.headers['x-content-type-options'], 'nosniff')
    t.equal((await app.get(`/${file}`, { 'if-none-match': String(answer.headers.etag) })).status, 304)
  }
})

t.test('a large file is sent in gzip to a client that accepts it', async (t) => {
  const app = await marketApp(t)
  const plain = await app.get('/docs/swagger-ui.css', {})
  const { rawPayload, headers } = await app.app.inject({
    url: '/docs/swagger-ui.css',
    headers: { 'accept-encoding': 'br, gzip' }
  })
  t.equal(headers['content-encoding'], 'gzip')
  t.match(headers.vary, /Accept-Encoding/)
  t.not(headers.etag, plain.headers.etag)
  t.equal(gunzipSync(rawPayload).toString(), plain.text)
})

t.test('no path below /docs leads anywhere but to a file of the explorer', async (t) => {
  const app = await marketApp(t)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const paths = [
    '/docs/../../etc/passwd',
    '/docs/..%2f..%2fetc%2fpasswd',
    '/docs/%2e%2e/%2e%2e/etc/passwd',
    '/docs/..%5c..%5cetc%5cpasswd',
    '/docs//etc/passwd',
    '/docs/%2fetc%2fpasswd',
    '/docs/swagger-ui.css%00.html',
    '/docs/%00',
    '/docs/package.json',
    '/docs/index.html',
    '/docs/swagger-ui.css/..',
    '/docs/swagger-ui.css/../swagger-ui.css',
    'http://127.0.0.1/docs/../package.json',
    '/docs/__proto__',
    '/docs/constructor',
    '/docs/%252e%252e%252fetc%252fpasswd'
  ]
  for (const path of paths) {
    // `get` sends the path unchanged; other clients resolve the dots before they send it.
    const [response] = (await once(get({ port, path }), 'response')) as [IncomingMessage]
    const answer = await text(response)
    t.equal(response.statusCode, 404, path)
    t.equal((JSON.parse(answer) as Body).code, 'unknown_route', path)
  }
})

t.test('the type of every problem leads to a page that explains it, to people and to programs', async (t) => {
  const app = await marketApp(t)
  const index = await app.get('/problems', { accept: 'text/html' })
  // Errors with one code have one page, of the first of them.
  const firsts = errorsOf(PRODUCTS).filter(
    ({ code }, at, all) => all.findIndex((other) => other.code === code) === at
  )
  for (const { code, title, status, meaning, remedy } of firsts) {
    const path = `/problems/${code.replaceAll('_', '-')}`
    t.ok(index.text.includes(`href="${path}"`), code)
    const page = await app.get(path, { accept: 'text/html,application/xhtml+xml;q=0.9' })
    t.match(page, { status: 200, type: 'text/html; charset=utf-8' })
    t.match(page.headers['content-security-policy'], /default-src 'none'/)
    t.ok(page.text.includes(`<h1>${title}</h1>`) && page.text.includes(code))
    // Codes as the body has them, and as people write them.
    for (const name of [code, code.toUpperCase(), code.replaceAll('_', '-').toUpperCase()])
      t.equal((await app.get(`/problems/${name}`, { accept: 'text/html' })).text, page.text, name)
    const { body, type } = await app.get(path, {})
    t.equal(type, 'application/json; charset=utf-8')
    t.match(body, { code, title, status, meaning, remedy, example: { type: path, code } })
  }
  t.equal((await app.get('/problems/no-such-problem', {})).status, 404)
  t.equal((await app.get('/problems/__proto__', {})).status, 404)
})

t.test('a problem names its page', async (t) => {
  const app = await marketApp(t)
  const { body } = await app.get('/v1/launches', {})
  const page = await app.get(new URL(body.type).pathname, { accept: 'text/html' })
  t.equal(page.status, 200)
  t.match(page.text, /Missing API key/)
})

const OWN_PAGE = { host: '127.0.0.1:8900', 'sec-fetch-site': 'same-origin' }

t.test('a working demo key is given only to a page of the service on this machine', async (t) => {
  let offered: string | null = null
  const app = await marketApp(t, undefined, { demoKey: { read: async () => offered } })
  const ask = async (headers: Readonly<Record<string, string>>, remoteAddress = '127.0.0.1') => {
    const { payload } = await app.app.inject({ url: '/docs/demo-key', headers, remoteAddress })
    return (JSON.parse(payload) as { readonly key: string | null }).key
  }
  t.equal(await ask(OWN_PAGE), null, 'none was written')
  offered = app.key
  t.equal((await app.get('/docs/demo-key', OWN_PAGE)).headers['cache-control'], 'no-store')
  for (const host of ['127.0.0.1:8900', 'localhost:8900', '[::1]:8900', 'LOCALHOST'])
    t.equal(await ask({ ...OWN_PAGE, host }), app.key, host)
  for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:8900', '10.0.0.7'])
    t.equal(await ask({ ...OWN_PAGE, host }), null, host)
  for (const site of ['cross-site', 'same-site', 'none', 'same-origin, same-origin'])
    t.equal(await ask({ ...OWN_PAGE, 'sec-fetch-site': site }), null, site)
  t.equal(await ask({ host: OWN_PAGE.host }), null, 'a request that is no page')
  for (const proxy of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'])
    t.equal(await ask({ ...OWN_PAGE, [proxy]: '127.0.0.1' }), null, proxy)
  t.equal(await ask(OWN_PAGE, '10.0.0.7'), null, 'another machine')

  offered = await app.makeKey(['data:read'], { expiresAtMs: 10 })
  app.nowMs = 9
  t.equal(await ask(OWN_PAGE), offered)
  app.nowMs = 10
  t.equal(await ask(OWN_PAGE), null, 'it has expired')
  offered = 'a-key-that-nobody-has'
  t.equal(await ask(OWN_PAGE), null, 'the store does not have it')
})

t.test('only a localnet on loopback keeps its demo key in clear text, for its owner alone', async (t) => {
  const dataDir = join(t.testdir(), 'new')
  const localnet = { source: 'localnet', role: ['ingest', 'gateway'], host: '127.0.0.1', dataDir } as const
  const at = (changes: object) => demoKeyFileOf({ ...localnet, role: ['ingest', 'gateway'], ...changes })
  for (const changes of [
    { host: '0.0.0.0' },
    { host: '::' },
    { host: '10.0.0.7' },
    { source: 'rpc' },
    { source: 'yellowstone' },
    { source: 'recorded' },
    { role: ['gateway'] }
  ])
    t.equal(at(changes), undefined, JSON.stringify(changes))
  for (const host of ['127.0.0.1', 'localhost', '::1']) t.ok(at({ host }), host)
  const file = at({})!
  t.equal(await file.read(), null)
  await file.write('mr_live_x')
  t.equal(await file.read(), 'mr_live_x')
  t.equal((await stat(join(dataDir, 'demo-key'))).mode & 0o777, 0o600)
})
