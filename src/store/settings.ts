import { z } from 'zod'
import {
  list,
  integer,
  url,
  optional,
  choice,
  text,
  type Settings,
  type Values
} from '../kernel/config/setting.ts'

/** Characters of a keyspace's name; a limit of Cassandra and ScyllaDB. */
export const KEYSPACE_LENGTH_MAX = 48

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
  scyllaReplication: { schema: integer(1, 10), fallback: '1', meaning: 'replicas of a row' },
  redisUrl: {
    schema: optional(url('redis:', 'rediss:')),
    fallback: '',
    secret: true,
    meaning: 'Redis for quotas, notifications and leases of several processes'
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
