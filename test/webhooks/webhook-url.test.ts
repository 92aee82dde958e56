import fc from 'fast-check'
import t from 'tap'
import { readWebhookUrl, WEBHOOK_URL_CHARACTERS_MAX } from '../../src/webhooks/webhook-url.ts'
import { randomRuns } from '../random-runs.ts'

t.test('a URL that can be a receiver is split into origin, host and path', async (t) => {
  const cases: [url: string, target: Record<string, string>][] = [
    ['https://example.com', { origin: 'https://example.com', host: 'example.com', path: '/' }],
    ['http://EXAMPLE.com:80/a?b=c#d', { origin: 'http://example.com', host: 'example.com', path: '/a?b=c' }],
    ['https://example.com:443/', { origin: 'https://example.com', host: 'example.com', path: '/' }],
    ['http://example.com:443/', { origin: 'http://example.com:443', host: 'example.com', path: '/' }],
    ['https://example.com:1024/x', { origin: 'https://example.com:1024', host: 'example.com', path: '/x' }],
    ['https://example.com:65535/', { origin: 'https://example.com:65535', host: 'example.com', path: '/' }],
    ['https://[2606:4700::1111]/', { host: '2606:4700::1111', path: '/' }],
    ['https://bücher.example/', { host: 'xn--bcher-kva.example', path: '/' }],
    ['http://①②⑦.0.0.1/', { host: '127.0.0.1', path: '/' }],
    ['http://0x7f.1/', { host: '127.0.0.1', path: '/' }]
  ]
  for (const [url, target] of cases) t.match(readWebhookUrl(url), { kind: 'target', target }, url)
})

t.test('a URL that cannot be a receiver is refused with the reason', async (t) => {
  const long = `https://example.com/${'x'.repeat(WEBHOOK_URL_CHARACTERS_MAX)}`
  const cases: [url: string, reason: RegExp][] = [
    ['', /absolute URL/],
    ['example.com/hook', /absolute URL/],
    ['//example.com/hook', /absolute URL/],
    ['https://', /absolute URL/],
    ['https://?x', /absolute URL/],
    ['https://exa mple.com/', /no space/],
    [' https://example.com/', /no space/],
    ['https://example.com/\n', /no space/],
    ['https://example.com/\u0000', /control character/],
    ['https://exam\u00adple.com/', /control character/],
    ['https:\\\\example.com\\', /backslash/],
    ['ftp://example.com/', /http or https/],
    ['file:///etc/passwd', /http or https/],
    ['gopher://example.com/', /http or https/],
    ['javascript:alert(1)', /http or https/],
    ['ws://example.com/', /http or https/],
    ['https://user@example.com/', /no user/],
    ['https://user:secret@example.com/', /no user/],
    ['https://:secret@example.com/', /no user/],
    ['https://example.com:0/', /port/],
    ['https://example.com:22/', /port/],
    ['https://example.com:25/', /port/],
    ['https://example.com:81/', /port/],
    ['https://example.com:1023/', /port/],
    ['https://example.com:65536/', /absolute URL/],
    ['https://256.1.1.1/', /absolute URL/],
    ['https://[::1/', /absolute URL/],
    [long, /at most 2048 characters, and has/]
  ]
  for (const [url, reason] of cases) {
    const reading = readWebhookUrl(url)
    t.match(reading, { kind: 'refused', reason }, url)
    t.notMatch(reading, { reason: /secret/ })
  }
})

t.test('the target of a URL is the place that the URL of the platform names', async () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] }), (text) => {
      const reading = readWebhookUrl(text)
      if (reading.kind === 'refused') return true
      const { origin, path } = reading.target
      const { protocol, host, pathname, search } = new URL(text)
      return `${protocol}//${host}${pathname}${search}` === origin + path
    }),
    randomRuns(500)
  )
})
