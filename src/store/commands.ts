import { command, type Commands } from '../kernel/cli/command.ts'
import type { SettingName } from '../kernel/config/config.ts'

/** Settings of TLS to a cluster. */
export const SCYLLA_TLS = [
  'scyllaTls',
  'scyllaTlsCa',
  'scyllaTlsCertificate',
  'scyllaTlsKey',
  'scyllaTlsServerName'
] as const satisfies readonly SettingName[]

/** Settings of Redis. */
export const REDIS_PLACE = [
  'redisUrl',
  'redisSentinelPassword',
  'redisTlsCa',
  'redisTlsCertificate',
  'redisTlsKey',
  'redisTlsServerName'
] as const satisfies readonly SettingName[]

/** Settings of the store's location. */
export const STORE_PLACE = [
  'dataDir',
  'storage',
  'scyllaContactPoints',
  'scyllaPort',
  'scyllaDatacenter',
  'scyllaKeyspace',
  'scyllaUsername',
  'scyllaPassword',
  ...SCYLLA_TLS
] as const satisfies readonly SettingName[]

/** Commands that check, mend and measure the store. */
export const STORE_COMMANDS: Commands = {
  verify: command({
    position: 80,
    summary: 'Recomputes stored records, and prints each difference.',
    details:
      'Candles are recomputed from stored trades: of the given mints, else of all mints launched or traded in the last ' +
      'day. The blocks of FROM..TO are redecoded, from the recorded folder if it is set, else from the nodes. The ' +
      'service may run meanwhile. If it has the embedded store open, a snapshot is read: links in the data folder, which ' +
      'are removed at the end. Exits with 1 if a record differs or cannot be compared.',
    operands: '[FROM..TO] [MINT …] [ADDRESS …]',
    options: {
      accounts: { meaning: 'compare the mirrored accounts of programs with the node instead' },
      revenue: {
        meaning: 'compare the ledgers of watched addresses, or of the named ones, with the node instead'
      },
      store: { meaning: 'verify the checksums of the embedded store’s files instead, and print each damage' }
    },
    settings: [...STORE_PLACE, 'recordedDir', 'rpcUrl', 'archiveRpcUrl', 'venues', 'usdMints', 'solUsd'],
    examples: [
      'millrace verify',
      'millrace verify 300000000..300000999 --rpc-url https://NODE',
      'millrace verify --accounts --rpc-url https://NODE',
      'millrace verify --revenue --rpc-url https://NODE',
      'millrace verify --store'
    ],
    run: async (invocation) => (await import('./commands/verify.ts')).verify(invocation)
  }),
  repair: command({
    position: 90,
    summary: 'Replaces a damaged embedded store by a new one with all readable records.',
    details:
      'Stop the service first. The old store is moved to another folder. If rows are lost, a recorded source is reread ' +
      'from its first block; with a node, the slots become gaps.',
    options: { 'from-source': { meaning: 'reread all blocks from the source, even if it is a node' } },
    settings: ['dataDir', 'storage', 'source', 'recordedDir'],
    examples: ['millrace repair --data-dir ./data'],
    run: async (invocation) => (await import('./commands/repair.ts')).repair(invocation)
  }),
  backup: command({
    position: 92,
    summary: 'Backs up the data folder. The service may run meanwhile.',
    details:
      'Each backup is a folder below DIR with the time as its name. It has the store, the archive, a localnet’s chain and the ' +
      'keys of secrets, verified by their checksums. Files that did not change are shared with the backup before. On a ' +
      'cluster the backup has the files of this machine, and the command prints how to take snapshots of the keyspaces.',
    operands: 'DIR',
    options: { keep: { value: 'COUNT', meaning: 'remove all but this many of the newest backups' } },
    settings: [...STORE_PLACE],
    examples: ['millrace backup /backups', 'millrace backup /backups --keep 7'],
    run: async (invocation) => (await import('./commands/backup.ts')).backup(invocation)
  }),
  restore: command({
    position: 94,
    summary: 'Restores a backup into an empty data folder.',
    details:
      'DIR is a backup, or a folder with backups, of which the newest is taken. Each file is verified. On a cluster, restore ' +
      'the snapshots of its nodes first: the command checks that their rows are there.',
    operands: 'DIR',
    settings: [...STORE_PLACE],
    examples: ['millrace restore /backups --data-dir ./data'],
    run: async (invocation) => (await import('./commands/restore.ts')).restore(invocation)
  }),
  storage: command({
    position: 100,
    summary: 'Prints disk use by kind of rows, and when the disk will be full.',
    details:
      'The service may run meanwhile: if it has the embedded store open, a snapshot is measured. The retention comes from ' +
      'the settings, which must be those of the service. With --url, the figures come from the service, which needs ' +
      'MILLRACE_ADMIN_KEY. All figures are estimates.',
    options: {
      json: { meaning: 'print one JSON object instead of a table' },
      url: { value: 'URL', meaning: 'use this service instead of opening the store' }
    },
    settings: [...STORE_PLACE, 'source', 'retentionDays', 'replayHorizonSeconds'],
    examples: ['millrace storage', 'millrace storage --url http://127.0.0.1:8900 --json'],
    run: async (invocation) => (await import('./commands/storage.ts')).storage(invocation)
  })
}
