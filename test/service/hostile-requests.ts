import { encodeBase58 } from '../../src/chain/base58.ts'
import {
  BODIES,
  METHODS,
  MORE_PARAMETERS,
  PARAMETERS,
  PROTOTYPES,
  ROUTES,
  TRAVERSALS,
  VALUES
} from './hostile-values.ts'
import type { SeededRandom } from '../../loadtest/market/random.ts'

/** A request as the bytes that a hostile client writes. */
export interface HostileRequest {
  /** The fault of the request, as a label for the report. */
  readonly kind: string
  readonly bytes: Buffer
  /** Whether the request is HEAD, whose answer has no body. */
  readonly isHead: boolean
}

interface Parts {
  readonly method?: string
  readonly target?: string
  readonly version?: string
  /** Header lines without their line ends. */
  readonly headers?: readonly string[]
  readonly body?: Buffer | string
}

/** Returns a valid address that no account has. */
export function strangeAddress(random: SeededRandom): string {
  return encodeBase58(random.bytes(32))
}

/** Draws a bad request. Most requests carry a valid key, so that they pass authentication. */
export function drawHostileRequest(random: SeededRandom, key: string): HostileRequest {
  const [kind, make] = random.pick(KINDS)
  const parts = make(random)
  const method = parts.method ?? 'GET'
  const target = parts.target ?? routeWith(random, strangeAddress(random))
  const hasKey = parts.headers?.some((line) => /^(x-api-key|authorization)/i.test(line)) ?? false
  const body = Buffer.from(parts.body ?? '')
  const headers = [
    'Host: 127.0.0.1',
    'Connection: close',
    ...(hasKey ? [] : [`X-API-Key: ${key}`]),
    ...(parts.headers ?? []),
    ...(body.length > 0 && !parts.headers?.some((line) => /^(content-length|transfer-encoding)/i.test(line))
      ? [`Content-Length: ${body.length}`]
      : [])
  ]
  const head = [`${method} ${target} ${parts.version ?? 'HTTP/1.1'}`, ...headers, '', ''].join('\r\n')
  // Latin-1 keeps each character one byte.
  return { kind, isHead: method === 'HEAD', bytes: Buffer.concat([Buffer.from(head, 'latin1'), body]) }
}

const KINDS: readonly (readonly [kind: string, make: (random: SeededRandom) => Parts])[] = [
  ['a path of nothing', (random) => ({ target: `/${text(random, 1 + random.below(60))}` })],
  [
    'a path that climbs',
    (random) => ({ target: random.pick(['/docs/', '/problems/', '/v1/', '/']) + random.pick(TRAVERSALS) })
  ],
  [
    'a badly encoded path',
    (random) => ({ target: routeWith(random, random.pick(['%', '%z', '%c0%af', '%ff%fe', '%ed%a0%80'])) })
  ],
  ['a long path', (random) => ({ target: routeWith(random, 'A'.repeat(1 << random.below(16))) })],
  ['raw bytes in the path', (random) => ({ target: routeWith(random, latin(random, 20)) })],
  [
    'an absolute or strange target',
    (random) => ({
      target: random.pick([
        'http://evil.example/v1/stats',
        '*',
        '//v1//stats',
        '/v1/stats#x',
        '?',
        '/v1/stats?',
        '/V1/STATS',
        '/v1/stats/'
      ])
    })
  ],
  [
    'no address',
    (random) => ({
      target: routeWith(
        random,
        random.pick([
          '0',
          'l',
          text(random, 44),
          '1'.repeat(33),
          strangeAddress(random).slice(1),
          `${strangeAddress(random)}A`,
          ...PROTOTYPES
        ])
      )
    })
  ],
  [
    'a parameter out of range',
    (random) => ({ target: withQuery(random, random.pick([...PARAMETERS, ...MORE_PARAMETERS])) })
  ],
  [
    'several parameters',
    (random) => ({
      target: `${withQuery(random, random.pick(PARAMETERS))}&${random.pick(PARAMETERS)}=${random.pick(VALUES)}&${random.pick(MORE_PARAMETERS)}=${random.pick(VALUES)}`
    })
  ],
  [
    'a thousand parameters',
    (random) => ({
      target: `${routeWith(random, strangeAddress(random))}?${Array.from({ length: 1000 }, (_, i) => `p${i}=1`).join('&')}`
    })
  ],
  ['a prototype key', (random) => ({ target: withQuery(random, random.pick(PROTOTYPES)) })],
  [
    'a made-up cursor',
    (random) => ({
      target: `${routeWith(random, strangeAddress(random))}?after=${Buffer.from(random.bytes(4 * random.below(20))).toString('base64url')}`
    })
  ],
  ['an unknown key', (random) => ({ headers: [`X-API-Key: ${text(random, 1 + random.below(80))}`] })],
  [
    'a strange authorization',
    (random) => ({
      headers: [
        `Authorization: ${random.pick(['Bearer', 'Bearer ', 'Basic Og==', `Bearer ${latin(random, 40)}`, 'x'.repeat(5000)])}`
      ]
    })
  ],
  [
    'two keys',
    (random) => ({ headers: [`X-API-Key: ${text(random, 20)}`, `Authorization: Bearer ${text(random, 20)}`] })
  ],
  ['huge headers', (random) => ({ headers: [`X-Large: ${'x'.repeat(1 << (10 + random.below(8)))}`] })],
  [
    'many headers',
    (random) => ({ headers: Array.from({ length: 10 + random.below(3000) }, (_, i) => `X-${i}: ${i}`) })
  ],
  [
    'a malformed header',
    (random) => ({
      headers: [
        random.pick([
          'no colon',
          ': no name',
          'X Y: space',
          'X-Null: a\0b',
          'X-Fold: a\r\n b',
          'X-Cr: a\rb',
          'Host: twice'
        ])
      ]
    })
  ],
  [
    'strange conditions',
    (random) => ({
      headers: [
        `${random.pick(['If-None-Match', 'Accept-Encoding', 'Range', 'Expect', 'Accept', 'Upgrade', 'Origin'])}: ${random.pick(['*', '"', 'W/"x"', 'gzip;q=2,;;=', 'bytes=0-,9-1', '100-continue', 'h2c', 'null', '\x80\xff', ','.repeat(3000)])}`
      ]
    })
  ],
  [
    'a smuggled request',
    (random) => ({
      method: 'POST',
      headers: [
        'Content-Length: 5',
        random.pick([
          'Transfer-Encoding: chunked',
          'Transfer-Encoding: xchunked',
          'Content-Length: 6',
          'Transfer-Encoding : chunked'
        ])
      ],
      body: '0\r\n\r\nGET /v1/admin/keys HTTP/1.1\r\nHost: x\r\n\r\n'
    })
  ],
  [
    'a broken chunk',
    (random) => ({
      method: 'POST',
      headers: ['Transfer-Encoding: chunked', 'Content-Type: application/json'],
      body: random.pick(['zz\r\n{}\r\n0\r\n\r\n', 'ffffffffffffffff\r\n', '2\r\n{}', '-1\r\n\r\n'])
    })
  ],
  ['another method', (random) => ({ method: random.pick(METHODS) })],
  [
    'another version',
    (random) => ({
      version: random.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', 'HTTP', 'ICY/1.0', ''])
    })
  ],
  [
    'a hostile body',
    (random) => ({
      method: random.pick(['POST', 'DELETE', 'PUT', 'GET']),
      target: random.pick(['/v1/admin/keys', '/v1/admin/tenants', '/v1/admin/keys/x/rotate', '/v1/launches']),
      headers: [
        `Content-Type: ${random.pick(['application/json', 'text/plain', 'application/xml', 'multipart/form-data', 'application/json; charset=utf-7', ''])}`
      ],
      body: random.pick(BODIES)
    })
  ],
  [
    'a short body',
    () => ({
      method: 'POST',
      target: '/v1/admin/tenants',
      headers: ['Content-Type: application/json', 'Content-Length: 100'],
      body: '{"name":'
    })
  ],
  [
    'no HTTP',
    (random) => ({
      method: latin(random, 1 + random.below(30)),
      target: latin(random, 10),
      version: latin(random, 10)
    })
  ]
]

function routeWith(random: SeededRandom, address: string): string {
  return random.pick(ROUTES).replace('%', () => address)
}

function withQuery(random: SeededRandom, name: string): string {
  return `${routeWith(random, strangeAddress(random))}?${name}=${random.pick(VALUES).replaceAll(' ', '+')}`
}

/** Returns printable characters that a request target may contain. */
function text(random: SeededRandom, length: number): string {
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~!$&()*+,;=:@'
  return Array.from({ length }, () => letters[random.below(letters.length)]!).join('')
}

/** Returns characters of any byte value except line ends. */
function latin(random: SeededRandom, length: number): string {
  return Array.from({ length }, () => String.fromCharCode(random.below(256)))
    .join('')
    .replace(/[\r\n ]/g, '?')
}
