import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { marketApp, type MarketApp } from '../http/market-app.ts'

/** Compressed bytes that the page loads before it shows something: two seconds on a slow phone (1.6 Mbit/s). */
const FIRST_LOAD_BYTES_MAX = 400_000

/** Requests a file as a browser does. */
async function load(app: MarketApp, url: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await app.app.inject({
    url,
    headers: { 'accept-encoding': 'gzip, deflate, br', ...headers }
  })
  const packed = answer.rawPayload
  const coding = answer.headers['content-encoding']
  const plain = coding === 'br' ? brotliDecompressSync(packed) : packed
  return { ...answer, status: answer.statusCode, headers: answer.headers, packed, text: plain.toString() }
}

/** Returns the URLs that a text of the page names. */
const linksOf = (html: string): string[] =>
  [...html.matchAll(/<(?:link|script)[^>]+(?:href|src)="([^"]+)"/g)].map(([, file]) => file!)
const importsOf = (script: string): string[] =>
  [...script.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"](\.[^'"\n]+)['"]/g)].map(([, file]) => file!)

/** Loads a module with everything that it imports, lazily too; returns the modules by their path. */
async function loadAll(app: MarketApp, entry: string) {
  const loaded = new Map<string, Awaited<ReturnType<typeof load>>>()
  const pending = [entry]
  for (let url = pending.pop(); url !== undefined; url = pending.pop()) {
    if (loaded.has(url)) continue
    const file = await load(app, url)
    loaded.set(url, file)
    for (const name of importsOf(file.text)) pending.push(new URL(name, `http://page${url}`).pathname)
  }
  return loaded
}

t.test(
  'the page loads from the service alone, under a policy without inline scripts and styles',
  async (t) => {
    const app = await marketApp(t)
    const page = await load(app, '/')
    t.match(page, { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
    t.equal(page.headers['cache-control'], 'no-cache')
    const policy = String(page.headers['content-security-policy'])
    t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
    t.notMatch(policy, /unsafe|http|\*/)
    t.notMatch(page.text, /<style|<script(?![^>]+src=)|\sstyle=|\son\w+=/, 'nothing is inline')

    const links = linksOf(page.text)
    t.ok(links.length > 20)
    let bytes = page.packed.length
    for (const link of links) {
      t.match(link, /^page\/[0-9a-f]{12}\/[\w./-]+$/, 'relative, so that a proxy may add a prefix')
      const file = await load(app, `/${link}`)
      t.equal(file.status, 200, link)
      if (!page.text.includes(`modulepreload" href="${link}`) || !link.endsWith('main.js'))
        bytes += file.packed.length
      const type = link.endsWith('.js')
        ? 'text/javascript'
        : link.endsWith('.css')
          ? 'text/css'
          : 'image/svg+xml'
      t.match(file.headers['content-type'], type)
      t.equal(file.headers['cache-control'], 'public, max-age=31536000, immutable')
      t.equal(file.headers['x-content-type-options'], 'nosniff')
      t.notMatch(
        file.text,
        /\bhttps?:\/\/(?!www\.(w3\.org|tradingview\.com|apache\.org))[\w.-]+\.\w/,
        `${link} names no other host`
      )
    }
    t.comment(`the first load takes ${bytes} bytes`)
    t.ok(bytes < FIRST_LOAD_BYTES_MAX, `${bytes} bytes`)
  }
)

t.test('every module is JavaScript whose imports are served, and the first ones are preloaded', async (t) => {
  const app = await marketApp(t)
  const { text } = await load(app, '/')
  const links = linksOf(text).map((link) => `/${link}`)
  const entry = links.find((link) => link.endsWith('/main.js'))!
  const modules = await loadAll(app, entry)
  t.ok(modules.size > links.length - 5)
  for (const [url, { status, text }] of modules) {
    t.equal(status, 200, url)
    t.notMatch(text, /^(import|export) (type|interface)\b/m, `${url} has no types`)
    t.notMatch(text, /sourceMappingURL/)
  }
  const preloaded = new Set(links)
  const first = [...modules].filter(([url]) => preloaded.has(url))
  for (const [url, { text }] of first)
    for (const [, name] of text.matchAll(/^(?:import|export)\b[^;(]*?from\s*['"](\.[^'"]+)['"]/gm))
      t.ok(preloaded.has(new URL(name!, `http://page${url}`).pathname), `${url} loads ${name!}`)
})

t.test('a file of another version, and a path beside the files, is an unknown route', async (t) => {
  const app = await marketApp(t)
  const { text } = await load(app, '/')
  const [first] = linksOf(text)
  const [, version] = /^page\/(\w+)\//.exec(first!)!
  for (const path of [
    `/page/000000000000/src/page/browser/main.js`,
    `/page/${version}/src/page/browser/main.ts`,
    `/page/${version}/package.json`,
    `/page/${version}/../../package.json`,
    `/page/${version}/src/page/browser/..%2f..%2f..%2f..%2fpackage.json`,
    `/page/${version}/__proto__`,
    `/page/${version}/`
  ]) {
    const answer = await load(app, path)
    t.equal(answer.status, 404, path)
    t.match(JSON.parse(answer.text), { code: 'unknown_route' })
  }
})

t.test('a known file is not sent again, and clients without Brotli get gzip or plain bytes', async (t) => {
  const app = await marketApp(t)
  const page = await load(app, '/')
  t.equal(page.headers['content-encoding'], 'br')
  t.equal(page.headers.vary, 'Accept-Encoding')
  const again = await load(app, '/', { 'if-none-match': String(page.headers.etag) })
  t.equal(again.status, 304)
  t.equal(again.packed.length, 0)
  const zipped = await load(app, '/', { 'accept-encoding': 'gzip, br;q=0' })
  t.equal(zipped.headers['content-encoding'], 'gzip')
  t.equal(gunzipSync(zipped.packed).toString(), page.text)
  const plain = await load(app, '/', { 'accept-encoding': 'identity' })
  t.equal(plain.headers['content-encoding'], undefined)
  t.equal(plain.text, page.text)
  t.equal(new Set([page, zipped, plain].map(({ headers }) => headers.etag)).size, 3)
})

t.test('the page needs no key, and gives none', async (t) => {
  const app = await marketApp(t)
  const { text, headers } = await load(app, '/')
  t.notMatch(text, app.key)
  t.equal(headers['set-cookie'], undefined)
  t.equal((await app.get('/v1/stats', {})).status, 401, 'its calls do')
})
