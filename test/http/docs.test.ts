import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { ERRORS } from '../../src/errors.ts'
import { PROBLEM_TEXTS } from '../../src/http/problem-texts.ts'
import { marketApp, type Body } from './market-app.ts'

t.test('the explorer and its files are served from here, with a policy that permits just them', async (t) => {
  const app = await marketApp(t)
  const root = await app.get('/', {})
  t.equal(root.status, 302)
  t.equal(root.headers.location, '/docs')
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
    t.match(file, /^\/docs\/[\w.-]+$/, 'lies here')
    const answer = await app.get(file, {})
    t.equal(answer.status, 200, file)
    t.ok(answer.text.length > 0)
    t.equal(answer.headers['x-content-type-options'], 'nosniff')
    t.equal((await app.get(file, { 'if-none-match': String(answer.headers.etag) })).status, 304)
  }
})

t.test('a large file goes out in gzip to who takes it', async (t) => {
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
    // As it is: other clients resolve the dots before they send a path.
    const [response] = (await once(get({ port, path }), 'response')) as [IncomingMessage]
    const answer = await text(response)
    t.equal(response.statusCode, 404, path)
    t.equal((JSON.parse(answer) as Body).code, 'unknown_route', path)
  }
})

t.test('the type of every problem leads to a page that explains it, to people and to programs', async (t) => {
  const app = await marketApp(t)
  const index = await app.get('/problems', { accept: 'text/html' })
  for (const [error, { code, title, status }] of Object.entries(ERRORS)) {
    const path = `/problems/${code.replaceAll('_', '-')}`
    t.ok(index.text.includes(`href="${path}"`), code)
    const page = await app.get(path, { accept: 'text/html,application/xhtml+xml;q=0.9' })
    t.match(page, { status: 200, type: 'text/html; charset=utf-8' })
    t.match(page.headers['content-security-policy'], /default-src 'none'/)
    t.ok(page.text.includes(`<h1>${title}</h1>`) && page.text.includes(code))
    // As the body has it, and as people write it.
    for (const name of [code, code.toUpperCase(), code.replaceAll('_', '-').toUpperCase()])
      t.equal((await app.get(`/problems/${name}`, { accept: 'text/html' })).text, page.text, name)
    const { body, type } = await app.get(path, {})
    const { meaning, remedy } = PROBLEM_TEXTS[error as keyof typeof ERRORS]
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
