import { z } from 'zod'
import { list, integer, url, optional, choice, type Setting } from '../setting.ts'

/** Settings of the store and the processes that share it. */
export const STORAGE_SETTINGS = {
  storage: { schema: choice('embedded', 'scylla'), fallback: 'embedded', meaning: 'what keeps the data' },
  scyllaContactPoints: {
    schema: list(z.string().regex(/^[\w.:-]+$/, 'is no host'), 1),
    fallback: '127.0.0.1',
    meaning: 'nodes of the cluster, any of them'
  },
  scyllaPort: { schema: integer(1, 65535), fallback: '9042', meaning: 'its CQL port' },
  scyllaDatacenter: {
    schema: z.string().min(1),
    fallback: 'datacenter1',
    meaning: 'the local datacenter'
  },
  scyllaKeyspace: {
    schema: z.string().regex(/^[a-z][a-z0-9_]{0,47}$/, 'is no name of a keyspace: a-z, 0-9, _, at most 48'),
    fallback: 'millrace',
    meaning: 'the keyspace'
  },
  scyllaUsername: { schema: optional(z.string()), fallback: '', meaning: 'its user' },
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
    meaning: 'shared counters, live feed and leases between processes'
  },
  startupWaitSeconds: {
    schema: integer(0, 86_400),
    fallback: '120',
    meaning:
      'how long a start waits for a CQL server that does not answer, and for others that make its tables'
  },
  retentionDays: {
    schema: optional(integer(1, 36500)),
    fallback: '',
    meaning:
      'days that trades, pool events and hourly activity are kept; empty: 2 of a localnet, 90 of a node, all of a recorded source'
  }
} satisfies Record<string, Setting>
