import t from 'tap'
import { entriesFor, isOriginEntry, ORIGIN_PRODUCTS, type OriginUse } from '../../src/access/origin-entry.ts'

const CHROME = `chrome-extension://${'abcdefghijklmnop'.repeat(2)}`
const FIREFOX = 'moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc'

t.test(
  'an entry is an origin, a wildcard, an extension or null, after a product if it has one',
  async (t) => {
    for (const entry of [
      'https://app.example.org',
      'http://127.0.0.1:3000',
      'https://*.example.org',
      'https://*.example.org:8443',
      'http://localhost:*',
      'https://127.0.0.1:*',
      'http://[::1]:*',
      CHROME,
      FIREFOX,
      'chrome-extension://*',
      'moz-extension://*',
      '*',
      'null'
    ]) {
      t.ok(isOriginEntry(entry), entry)
      for (const product of ORIGIN_PRODUCTS) t.ok(isOriginEntry(`${product}:${entry}`), `${product}:${entry}`)
    }
    for (const text of [
      '',
      'rpc:',
      'rpc',
      'rpc://example.org',
      'rpc:rpc:*',
      'market:*',
      '**',
      'NULL',
      'https://',
      'https://*',
      'https://*.org',
      'https://*.',
      'https://*.*.example.org',
      'https://app.*.org',
      'https://a*.example.org',
      'https://*.example.org/',
      'https://*.EXAMPLE.org',
      'https://*.example.org:443',
      'https://*.example.org:*',
      'https://example.org:*',
      'http://*.0.0.1',
      'https://app.example.org/',
      'HTTPS://app.example.org',
      'ftp://example.org',
      'file://',
      'chrome-extension://',
      'chrome-extension://abc',
      `${CHROME}/popup.html`,
      'moz-extension://x',
      'safari-web-extension://*',
      '*://*',
      ' *'
    ])
      t.notOk(isOriginEntry(text), JSON.stringify(text))
  }
)

t.test('an entry admits the origins that it stands for, and no other', async (t) => {
  const admits = (entry: string, origin: string, use: OriginUse = null): boolean =>
    entriesFor(origin, use).includes(entry)
  for (const [entry, origins, others] of [
    [
      'https://app.example.org',
      ['https://app.example.org'],
      ['https://x.app.example.org', 'http://app.example.org']
    ],
    [
      'https://*.example.org',
      ['https://a.example.org', 'https://b-1.example.org'],
      [
        'https://example.org',
        'https://a.b.example.org',
        'https://a.example.org:8443',
        'http://a.example.org',
        'https://a.example.org.evil.net',
        'https://evil-example.org'
      ]
    ],
    ['https://*.example.org:8443', ['https://a.example.org:8443'], ['https://a.example.org']],
    [
      'http://localhost:*',
      ['http://localhost', 'http://localhost:3000'],
      [
        'https://localhost:3000',
        'http://localhost.evil.org',
        'http://a.localhost:3000',
        'http://127.0.0.1:3000'
      ]
    ],
    ['http://[::1]:*', ['http://[::1]:3000', 'http://[::1]'], ['http://[::2]:3000']],
    [CHROME, [CHROME], [CHROME.replace('abc', 'abd')]],
    ['chrome-extension://*', [CHROME], [FIREFOX, 'https://a.example.org']],
    ['moz-extension://*', [FIREFOX], [CHROME]],
    [
      '*',
      ['https://a.example.org', 'http://localhost:3000', CHROME, FIREFOX],
      ['null', '', '*', 'file://', 'x']
    ],
    ['null', ['null'], ['https://a.example.org', '']]
  ] as const) {
    for (const origin of origins) t.ok(admits(entry, origin), `${entry}: ${origin}`)
    for (const origin of others) t.notOk(admits(entry, origin), `${entry}: not ${origin}`)
  }

  const page = 'https://app.example.org'
  t.ok(admits(page, page, 'rpc'))
  t.ok(admits(`rpc:${page}`, page, 'rpc'))
  t.notOk(admits(`rpc:${page}`, page, 'stream'))
  t.notOk(admits(`rpc:${page}`, page, null))
  t.ok(admits(`rpc:*`, page, 'any'))
})
