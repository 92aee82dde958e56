import { z } from 'zod'
import { readRedisUrl } from '../kernel/config/redis-url.ts'
import {
  checkedUrl,
  choice,
  flag,
  integer,
  list,
  optional,
  text,
  type Settings,
  type Values
} from '../kernel/config/setting.ts'

/** Characters of a keyspace's name; a limit of Cassandra and ScyllaDB. */
export const KEYSPACE_LENGTH_MAX = 48

/** Replicas of a row: in the local datacenter, or in each of several datacenters, by their names. */
export type Replication = number | Readonly<Record<string, number>>

const REPLICAS_MAX = 10

/** A number of replicas, or `NAME:NUMBER` of each datacenter. */
const replication = z.string().transform((text, context): Replication => {
  if (/^\d+$/.test(text)) {
    const replicas = integer(1, REPLICAS_MAX).safeParse(text)
    if (replicas.success) return replicas.data
    context.addIssue(replicas.error.issues[0]!.message)
    return z.NEVER
  }
  const found = new Map<string, number>()
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, datacenter = '', count = ''] = /^([\w.-]{1,48}):(\d{1,2})$/.exec(part) ?? []
    const replicas = Number(count)
    if (datacenter === '') context.addIssue(`has ${part}, which is neither a number nor DATACENTER:NUMBER`)
    else if (replicas < 1 || replicas > REPLICAS_MAX)
      context.addIssue(`has ${part}, which is not from 1 to ${REPLICAS_MAX} replicas`)
    else if (found.has(datacenter)) context.addIssue(`has ${datacenter} twice`)
    found.set(datacenter, replicas)
  }
  return Object.fromEntries(found)
})

/** A Redis URL. */
const redisUrl = checkedUrl((text) => {
  const read = readRedisUrl(text)
  return typeof read === 'string' ? read : null
})

/** Settings of the store and the processes that share it. */
export const STORAGE_SETTINGS = {
  storage: { schema: choice('embedded', 'scylla'), fallback: 'embedded', meaning: 'storage engine' },
  scyllaContactPoints: {
    schema: list(z.string().regex(/^[\w.:-]+$/, 'is not a host'), 1),
    fallback: '127.0.0.1',
    meaning: 'some nodes of the cluster'
  },
  scyllaPort: { schema: integer(1, 65535), fallback: '9042', meaning: 'its CQL port' },
  scyllaDatacenter: {
    schema: text,
    fallback: 'datacenter1',
    meaning: 'the local datacenter'
  },
  scyllaKeyspace: {
    schema: z
      .string()
      .regex(
        new RegExp(`^[a-z][a-z0-9_]{0,${KEYSPACE_LENGTH_MAX - 1}}$`),
        `is not a keyspace name: a-z, 0-9, _, at most ${KEYSPACE_LENGTH_MAX}`
      ),
    fallback: 'millrace',
    meaning: 'the keyspace'
  },
  scyllaUsername: { schema: optional(z.string()), fallback: '', meaning: 'user of the cluster' },
  scyllaPassword: {
    schema: optional(z.string()),
    fallback: '',
    secret: true,
    meaning: "the user's password"
  },
  scyllaReplication: {
    schema: replication,
    fallback: '1',
    meaning:
      'replicas of a row in the local datacenter, or in each datacenter: `dc1:3,dc2:3`, with the local one among them'
  },
  scyllaTablets: {
    schema: flag,
    fallback: 'false',
    meaning:
      'whether a new keyspace has tablets; ScyllaDB alone has them, and conditional writes work on them from 2025.4 on'
  },
  scyllaTls: {
    schema: flag,
    fallback: 'false',
    meaning: 'whether connections to the cluster use TLS; then the certificate of each node is verified'
  },
  scyllaTlsCa: {
    schema: optional(z.string()),
    fallback: '',
    meaning: 'PEM file of the authorities that sign its certificates; empty: those of Node'
  },
  scyllaTlsCertificate: {
    schema: optional(z.string()),
    fallback: '',
    meaning: 'PEM file of the certificate that the nodes ask of clients'
  },
  scyllaTlsKey: {
    schema: optional(z.string()),
    fallback: '',
    meaning: "PEM file of that certificate's private key"
  },
  scyllaTlsServerName: {
    schema: optional(z.string()),
    fallback: '',
    meaning: 'name in the certificates of all nodes; empty: each has its address'
  },
  redisUrl: {
    schema: optional(redisUrl),
    fallback: '',
    secret: true,
    meaning:
      'Redis for quotas, notifications and leases of several processes; `redis+sentinel://HOST,HOST/NAME` and `redis+cluster://HOST,HOST` follow failovers, and `rediss` is for TLS'
  },
  redisSentinelPassword: {
    schema: optional(z.string()),
    fallback: '',
    secret: true,
    meaning: 'password of the Sentinels, if they need one'
  },
  redisTlsCa: {
    schema: optional(z.string()),
    fallback: '',
    meaning: "PEM file of the authorities that sign Redis' certificates; empty: those of Node"
  },
  redisTlsCertificate: {
    schema: optional(z.string()),
    fallback: '',
    meaning: 'PEM file of the certificate that Redis asks of clients'
  },
  redisTlsKey: {
    schema: optional(z.string()),
    fallback: '',
    meaning: "PEM file of that certificate's private key"
  },
  redisTlsServerName: {
    schema: optional(z.string()),
    fallback: '',
    meaning: "name in the certificates of Redis' servers; empty: the host by which each is reached"
  },
  startupWaitSeconds: {
    schema: integer(0, 86_400),
    fallback: '120',
    meaning: 'seconds for which a start waits for the cluster, and for other processes that create its tables'
  },
  retentionDays: {
    schema: optional(integer(1, 36500)),
    fallback: '',
    meaning:
      'days for which trades, pool events and hourly activity are stored; empty: 2 for a localnet, 90 for a node, unlimited for a recorded source'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof STORAGE_SETTINGS> {}
}
