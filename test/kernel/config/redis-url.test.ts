import t from 'tap'
import { configOf, configMask, maskedConfig } from '../../../src/configuration.ts'
import { readRedisUrl } from '../../../src/kernel/config/redis-url.ts'
import { maskedUrl } from '../../../src/kernel/config/url-mask.ts'

const NOTHING = { isTls: false, username: '', password: '', name: '', database: 0 }

t.test('a Redis URL names a server, Sentinels or a cluster', async (t) => {
  const places: readonly (readonly [string, object])[] = [
    ['redis://h', { ...NOTHING, kind: 'server', hosts: [{ host: 'h', port: 6379 }] }],
    [
      'rediss://u:p%40w@[::1]:7000/3',
      {
        kind: 'server',
        hosts: [{ host: '::1', port: 7000 }],
        ...{ isTls: true, username: 'u', password: 'p@w', name: '', database: 3 }
      }
    ],
    [
      'redis+sentinel://:p,w@a,b:26380,[fe80::1]/main/2',
      {
        kind: 'sentinel',
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 26_380 },
          { host: 'fe80::1', port: 26_379 }
        ],
        ...{ isTls: false, username: '', password: 'p,w', name: 'main', database: 2 }
      }
    ],
    [
      'rediss+cluster://10.0.0.1:7001,10.0.0.2:7002',
      {
        ...{ ...NOTHING, kind: 'cluster', isTls: true },
        hosts: [
          { host: '10.0.0.1', port: 7001 },
          { host: '10.0.0.2', port: 7002 }
        ]
      }
    ],
    ['redis://h/main', { kind: 'server', database: null }]
  ]
  for (const [url, place] of places) t.match(readRedisUrl(url), place, url)
})

t.test('a Redis URL that cannot be meant is refused, and shown in no part', async (t) => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['http://secret@h', /is not a URL with redis:/],
    ['redis', /is not a URL with redis:/],
    ['redis+other://secret@h', /is not a URL with redis:/],
    ['redis://secret@a,b', /names several hosts/],
    ['redis+sentinel://secret@a,b', /does not name the primary/],
    ['redis+sentinel://secret@a,b/', /does not name the primary/],
    ['redis+sentinel://secret@a,,b/main', /is not a URL/],
    ['redis+sentinel://secret@a:x,b/main', /is not a URL/],
    ['redis+cluster://secret@a,b/1', /has only database 0/],
    ['redis://secret%@h', /percent-encoded/]
  ]
  for (const [url, why] of refused) {
    const problem = readRedisUrl(url)
    t.match(problem, why, url)
    t.notMatch(JSON.stringify(problem), 'secret')
  }
})

t.test('a URL with several hosts is masked as one with a single host', async (t) => {
  const url = 'rediss+sentinel://user:password-of-redis@a:1,b:2/main/1'
  t.equal(maskedUrl(url), 'rediss+sentinel://********@a:1,b:2/********')
  const environment = { MILLRACE_REDIS_URL: url, MILLRACE_REDIS_SENTINEL_PASSWORD: 'password-of-sentinels' }
  const reading = configOf({}, environment)
  if (reading.kind !== 'config') throw new Error(reading.problems.join())
  t.notMatch(JSON.stringify(maskedConfig(reading.config)), /password-of/)
  const mask = configMask(reading.config)
  t.equal(mask(`no answer from ${url}`), `no answer from ${maskedUrl(url)}`)
  t.notMatch(mask('password-of-redis password-of-sentinels'), /password-of/)
})
