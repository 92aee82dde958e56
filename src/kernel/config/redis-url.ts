import { readHostsUrl } from './hosts-url.ts'

/** A host and port. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** Where `MILLRACE_REDIS_URL` says that Redis is. */
export interface RedisPlace {
  /** One server; the primary that Sentinels watch; or a Redis Cluster. */
  readonly kind: 'server' | 'sentinel' | 'cluster'
  /** The server, the Sentinels, or some nodes of the cluster. */
  readonly hosts: readonly HostPort[]
  readonly isTls: boolean
  readonly username: string
  readonly password: string
  /** Name under which Sentinels know the primary; empty for other kinds. */
  readonly name: string
  /** Number of the database; null if the path is no number. */
  readonly database: number | null
}

const KINDS = { 'redis:': 'server', 'redis+sentinel:': 'sentinel', 'redis+cluster:': 'cluster' } as const
const PORTS = { server: 6379, sentinel: 26_379, cluster: 6379 } as const
const DATABASE = /^\d{0,4}$/

/**
 * Reads a Redis URL: `redis://user:password@host:port/database`, `redis+sentinel://…@host:port,host:port/name/database`, or
 * `redis+cluster://…@host:port,host:port`; `rediss` instead of `redis` is for TLS. Returns the problem of another text, to
 * follow the setting's name; it shows no part of the text.
 */
export function readRedisUrl(text: string): RedisPlace | string {
  const read = readHostsUrl(text)
  const protocol = (read?.url.protocol ?? '').replace(/^rediss/, 'redis')
  if (read === null || !Object.hasOwn(KINDS, protocol))
    return 'is not a URL with redis: or rediss:, or either with +sentinel or +cluster'
  const { url, others } = read
  const kind = KINDS[protocol as keyof typeof KINDS]
  if (kind === 'server' && others.length > 0)
    return 'names several hosts, which is for redis+sentinel: and redis+cluster:'
  const path = url.pathname.split('/').slice(1)
  const [name, databaseText = ''] = kind === 'sentinel' ? path : ['', ...path]
  if (kind === 'sentinel' && (name === undefined || name === ''))
    return 'does not name the primary that the Sentinels watch: redis+sentinel://HOST,HOST/NAME'
  const database = DATABASE.test(databaseText) ? Number(databaseText) : null
  if (kind === 'cluster' && database !== 0) return 'names a database, but a Redis Cluster has only database 0'
  const [username, password, primary] = [url.username, url.password, name ?? ''].map(decoded)
  if (username === undefined || password === undefined || primary === undefined)
    return 'has a % that is not part of a percent-encoded character'
  return {
    kind,
    hosts: [url.host, ...others].map((host) => hostPortOf(host, PORTS[kind])),
    isTls: url.protocol.startsWith('rediss'),
    username,
    password,
    name: primary,
    database
  }
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function hostPortOf(text: string, otherwise: number): HostPort {
  const { hostname, port } = new URL(`redis://${text}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? otherwise : Number(port) }
}
