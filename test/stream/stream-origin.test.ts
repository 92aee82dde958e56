import t from 'tap'
import { httpBounds } from '../../src/kernel/http/bounds.ts'
import type { StreamGateway } from '../../src/stream/gateway.ts'
import { answersIn, listeningApp } from '../http/raw-client.ts'

const PAGE = 'https://app.example.org'
const OTHER = 'https://evil.example.org'
const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
]
const REFUSED = '403 origin_not_allowed'
const OPENED = '101'

/** A stream that admits every connection and closes it at once. */
const openGateway: StreamGateway = {
  admits: () => true,
  open: (socket) => socket.terminate(),
  health: {
    head: -1,
    horizon: null,
    horizonSeconds: null,
    connections: 0,
    subscriptions: 0,
    eventsPerSecond: 0,
    dropped: 0
  }
}

t.test('a stream is opened to the pages that may use its key, and to clients that are no page', async (t) => {
  const app = await listeningApp(t, undefined, {
    bounds: { ...httpBounds(Infinity), lingerMs: 50 },
    stream: openGateway
  })
  const listing = await app.makeKey(['stream'], { corsOrigins: [PAGE] })
  const plain = await app.makeKey(['stream'])
  const open = async (key: string, ...fields: readonly string[]): Promise<string> => {
    const head = [`GET /v1/stream?key=${key} HTTP/1.1`, ...HANDSHAKE, ...fields, '', '']
    return answersIn(await app.connect().send(head.join('\r\n')).received).join()
  }
  const HOST = 'Host: api.example.org:8900'
  for (const [name, key] of [
    ['a key that lists an origin', listing],
    ['a key that lists none', plain]
  ] as const) {
    t.equal(await open(key, HOST), OPENED, `${name}: no browser`)
    t.equal(
      await open(key, HOST, 'Origin: http://api.example.org:8900'),
      OPENED,
      `${name}: the service's own page`
    )
    t.equal(await open(key, HOST, `Origin: ${OTHER}`), REFUSED, `${name}: another page`)
    t.equal(await open(key, HOST, 'Origin: null'), REFUSED, `${name}: a page of no origin`)
    t.equal(await open(key, HOST, 'Origin: '), REFUSED, `${name}: an empty origin`)
    t.equal(
      await open(key, HOST, `Origin: ${PAGE}`),
      key === listing ? OPENED : REFUSED,
      `${name}: the listed page`
    )
    for (const near of [
      `${PAGE}:8443`,
      `${PAGE}.evil.org`,
      'http://app.example.org',
      `${PAGE}/`,
      PAGE.toUpperCase()
    ])
      t.equal(await open(key, HOST, `Origin: ${near}`), REFUSED, `${name}: ${near}`)
    t.equal(await open(key, HOST, `Origin: ${PAGE}`, `Origin: ${OTHER}`), REFUSED, `${name}: two origins`)
    for (const near of [
      'http://api.example.org',
      'http://api.example.org:8901',
      'http://x.api.example.org:8900',
      'file://api.example.org:8900'
    ])
      t.equal(
        await open(key, HOST, `Origin: ${near}`),
        REFUSED,
        `${name}: ${near}, which is nearly the service`
      )
  }
})

t.test('a page gets the same over HTTP and over WebSocket, whatever its origin and its key', async (t) => {
  const app = await listeningApp(t, undefined, {
    bounds: { ...httpBounds(Infinity), lingerMs: 50 },
    stream: openGateway
  })
  const scopes = ['stream', 'data:read'] as const
  const keys = {
    listing: await app.makeKey(scopes, { corsOrigins: [PAGE] }),
    'listing another': await app.makeKey(scopes, { corsOrigins: [OTHER] }),
    plain: await app.makeKey(scopes)
  }
  // A page without an origin sends the text `null`.
  const origins = [null, PAGE, OTHER, 'http://api.example.org:8900', 'null', '', `${PAGE}/`, `${PAGE}:8443`]
  const answered = async (lines: readonly string[]) => {
    const received = await app.connect().send(`${lines.join('\r\n')}\r\n\r\n`).received
    const [answer = ''] = answersIn(received)
    const { title, detail, code } = /^4/.test(answer)
      ? (JSON.parse(received.split('\r\n\r\n')[1]!) as Record<string, unknown>)
      : {}
    return { isAdmitted: answer === '101' || answer === '200', problem: { answer, title, detail, code } }
  }
  const admitted: string[] = []
  for (const [name, key] of Object.entries(keys))
    for (const origin of origins) {
      const fields = ['Host: api.example.org:8900', `X-API-Key: ${key}`]
      if (origin !== null) fields.push(`Origin: ${origin}`)
      const stream = await answered(['GET /v1/stream HTTP/1.1', ...HANDSHAKE, ...fields])
      const rest = await answered(['GET /v1/me HTTP/1.1', 'Connection: close', ...fields])
      t.equal(rest.isAdmitted, stream.isAdmitted, `${name}, ${origin ?? 'no page'}`)
      if (rest.isAdmitted) admitted.push(`${name}, ${origin ?? 'no page'}`)
      else {
        // The refusal also names the entry for the product alone.
        const { detail } = stream.problem
        const ofRest = String(detail).replace(/, or stream:\S+ for this product/, '')
        t.same(rest.problem, { ...stream.problem, answer: REFUSED, detail: ofRest })
      }
    }
  t.same(admitted, [
    'listing, no page',
    `listing, ${PAGE}`,
    'listing, http://api.example.org:8900',
    'listing another, no page',
    `listing another, ${OTHER}`,
    'listing another, http://api.example.org:8900',
    'plain, no page',
    'plain, http://api.example.org:8900'
  ])
})

t.test('behind a proxy the own page is that of the host that the proxy was asked for', async (t) => {
  const app = await listeningApp(t, undefined, {
    bounds: { ...httpBounds(Infinity), lingerMs: 50 },
    stream: openGateway
  })
  const key = await app.makeKey(['stream'])
  const open = async (origin: string, ...fields: readonly string[]): Promise<string> => {
    const head = [
      'GET /v1/stream HTTP/1.1',
      ...HANDSHAKE,
      `X-API-Key: ${key}`,
      `Origin: ${origin}`,
      ...fields,
      '',
      ''
    ]
    return answersIn(await app.connect().send(head.join('\r\n')).received).join()
  }
  const OWN = 'https://api.example.org'
  t.equal(await open(OWN, 'Host: api.example.org'), OPENED, 'TLS ends at the proxy')
  t.equal(await open(OWN, 'Host: api.example.org:443'), OPENED, 'the implied port is named')
  t.equal(await open(OWN, 'Host: API.example.org'), OPENED, 'letters of any case')
  t.equal(await open(OWN, 'Host: 127.0.0.1:8900'), REFUSED, 'the proxy hides the host')
  t.equal(
    await open(OWN, 'Host: 127.0.0.1:8900', 'X-Forwarded-Host: api.example.org'),
    OPENED,
    'it tells the host'
  )
  t.equal(
    await open(OWN, 'Host: 127.0.0.1:8900', 'X-Forwarded-Host: api.example.org, inner'),
    OPENED,
    'two proxies'
  )
  t.equal(await open(OTHER, 'Host: 127.0.0.1:8900', 'X-Forwarded-Host: api.example.org'), REFUSED)
  t.equal(await open('http://[::1]:8900', 'Host: [::1]:8900'), OPENED, 'an address of IPv6')
})
