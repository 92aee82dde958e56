import t from 'tap'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { Storage } from '../../storage/port.ts'
import { block } from '../market/world.ts'
import { marketApp, type MarketApp } from './market-app.ts'

const NOON = Date.UTC(2026, 0, 2, 12) / 1000
/** Error details as drivers and operating systems word them, with content that a tenant must not see. */
const DETAILS = [
  'the store does not answer: 127.0.0.3:19442: Host considered as DOWN',
  'the store refuses: unconfigured table secret_table',
  'cannot reach Redis at redis://10.0.0.5:6379 (ECONNREFUSED)',
  '/var/lib/secret/store/000123.ldb: block checksum mismatch'
]
const INTERNAL = /127\.0\.0\.3|10\.0\.0\.5|19442|6379|redis|secret|DOWN|ECONN|\.ldb|driver|cassandra|scylla/i

/** An open store that rejects every call. */
function failing(storage: Storage, errorOf: () => Error): Storage {
  const rejecting = (part: object): object =>
    new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? () => Promise.reject(errorOf()) : value
      }
    })
  const parts = Object.entries(storage).map(([name, value]: [string, unknown]) => {
    const isPart = typeof value === 'object' && value !== null && !(value instanceof Promise)
    return [name, isPart ? rejecting(value) : value]
  })
  return { ...(Object.fromEntries(parts) as Storage), close: () => storage.close() }
}

/** Returns the paths of the document with every parameter filled in. */
async function pathsOf(app: MarketApp): Promise<string[]> {
  const { body } = await app.get('/openapi.json')
  const paths = Object.entries(body['paths'] as Record<string, Record<string, unknown>>)
  return paths
    .filter(([, methods]) => 'get' in methods)
    .map(([path]) => path.replace(/\{[^}]+\}/g, 'So11111111111111111111111111111111111111112'))
}

for (const [name, thrown] of [
  [
    'says why',
    (detail: string) => new ServiceError('STORAGE_UNAVAILABLE', detail, { cause: new Error(detail) })
  ],
  ['throws what nobody expects', (detail: string) => new Error(detail)]
] as const) {
  t.test(
    `no answer to a tenant tells of hosts, ports, files or drivers where the store ${name}`,
    async (t) => {
      let detail = DETAILS[0]!
      const app = await marketApp(t, (storage) => ({
        ...failing(storage, () => thrown(detail)),
        outage: { sinceMs: NOON * 1_000, detail: DETAILS[0]! }
      }))
      await app.commit(block(1, NOON, []))
      app.nowMs = NOON * 1_000
      const paths = await pathsOf(app)
      t.ok(paths.length > 10)
      const refused = new Set<string>()
      for (detail of DETAILS) {
        for (const path of paths) {
          // Metrics are for the operator: on loopback, or with the admin key.
          if (path === '/metrics') continue
          const { status, text } = await app.get(path)
          t.notMatch(text, INTERNAL, `${status} ${path}`)
          if (status >= 500) refused.add(path)
        }
      }
      t.ok(refused.has('/v1/health'), 'health is degraded')
      t.ok(refused.size > 5, `${refused.size} paths asked the store`)
    }
  )
}
