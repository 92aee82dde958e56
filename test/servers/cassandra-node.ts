import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { javaCommand } from './cassandra-jars.ts'
import type { ServerCommand } from './server-process.ts'

/** Heap in MiB that suffices for tests; a node then takes about 830 MB in all. */
export const TEST_HEAP_MIB = 384
/**
 * Milliseconds until a node must be up. One alone takes eight seconds on two cores, three at once fifteen; a busy machine
 * takes many times as long.
 */
const START_WITHIN_MS = 300_000

export interface CassandraNodeOptions {
  readonly address: string
  /** Port for clients. */
  readonly port: number
  /** Port for other nodes. */
  readonly storagePort: number
  readonly seeds: readonly string[]
  /** The node's only token, its position on the ring. */
  readonly token: bigint
  /** Whether clients need a name and a password, and have permissions. */
  readonly authentication: boolean
  /** Whether its code is compiled for speed, which makes the start half as long again. */
  readonly fast: boolean
  /** Whether a write is on disk before it is acknowledged. */
  readonly durable: boolean
  /** Whether it is never started again. Its system tables are then not flushed by each change of a schema. */
  readonly disposable: boolean
  readonly heapMib: number
  /** Port of this machine for nodetool; null for none. */
  readonly jmxPort: number | null
  readonly folder: string
  readonly jars: string
}

/** Writes the configuration of an Apache Cassandra node and returns the command that starts it. */
export function cassandraNode(options: CassandraNodeOptions): ServerCommand {
  const { folder, jars, address, port, jmxPort, heapMib } = options
  const settings = join(folder, 'cassandra.yaml')
  const logging = join(folder, 'logback.xml')
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary, { recursive: true })
  writeFileSync(settings, settingsOf(options))
  writeFileSync(logging, LOGGING)
  return {
    command: javaCommand(),
    args: [
      `-Xms${heapMib}m`,
      `-Xmx${heapMib}m`,
      '-XX:+UseSerialGC',
      ...(options.fast ? [] : ['-XX:TieredStopAtLevel=1']),
      ...(options.disposable ? DISPOSABLE : []),
      ...(jmxPort === null ? [] : [`-Dcassandra.jmx.local.port=${jmxPort}`]),
      `-Djava.io.tmpdir=${temporary}`,
      `-Dcassandra.config=file://${settings}`,
      `-Dcassandra.storagedir=${folder}`,
      `-Dlogback.configurationFile=${logging}`,
      ...OPTIONS,
      ...['-cp', [folder, join(jars, '*')].join(delimiter), 'org.apache.cassandra.service.CassandraDaemon']
    ],
    cwd: folder,
    log: join(folder, 'system.log'),
    address,
    port,
    startWithinMs: START_WITHIN_MS
  }
}

/** Returns the folder of a node's tables. */
export const dataFolderOf = (folder: string): string => join(folder, 'data')

/** The settings are written as JSON, which is valid YAML. */
function settingsOf(options: CassandraNodeOptions): string {
  const { address, port, storagePort, seeds, token, authentication, durable, folder } = options
  return JSON.stringify({
    cluster_name: `millrace-tests-${storagePort}`,
    num_tokens: 1,
    initial_token: token.toString(),
    partitioner: 'org.apache.cassandra.dht.Murmur3Partitioner',
    data_file_directories: [dataFolderOf(folder)],
    commitlog_directory: join(folder, 'commitlog'),
    saved_caches_directory: join(folder, 'saved_caches'),
    hints_directory: join(folder, 'hints'),
    cdc_raw_directory: join(folder, 'cdc_raw'),
    ...(durable
      ? { commitlog_sync: 'batch' }
      : { commitlog_sync: 'periodic', commitlog_sync_period: '10000ms' }),
    memtable: {
      configurations: {
        skiplist: { class_name: 'SkipListMemtable' },
        default: { inherits: 'skiplist' }
      }
    },
    seed_provider: [
      {
        class_name: 'org.apache.cassandra.locator.SimpleSeedProvider',
        parameters: [{ seeds: seeds.map((seed) => `${seed}:${storagePort}`).join(',') }]
      }
    ],
    listen_address: address,
    rpc_address: address,
    storage_port: storagePort,
    native_transport_port: port,
    endpoint_snitch: 'SimpleSnitch',
    auto_bootstrap: false,
    // Keyspaces that tests drop leave no snapshots.
    auto_snapshot: false,
    ...(authentication && {
      authenticator: 'PasswordAuthenticator',
      authorizer: 'CassandraAuthorizer',
      role_manager: 'CassandraRoleManager',
      // Permissions that a test grants or revokes take effect at once.
      permissions_validity: '0ms',
      roles_validity: '0ms',
      credentials_validity: '0ms'
    })
  })
}

const LOGGING = `<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
`

/** Avoid a flush for every table that is created or truncated, which is most of the time of these operations. */
const DISPOSABLE = ['-Dcassandra.unsafesystem=true', '-Dcassandra.flush_local_schema_changes=false']

const EXPORTED = [
  'java.base/jdk.internal.misc',
  'java.base/jdk.internal.ref',
  'java.base/java.lang.ref',
  'java.base/sun.nio.ch',
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  'java.rmi/sun.rmi.registry',
  'java.rmi/sun.rmi.server',
  'java.rmi/sun.rmi.transport.tcp',
  'java.sql/java.sql'
]
const OPENED = [
  'java.base/java.io',
  'java.base/java.lang',
  'java.base/java.lang.module',
  'java.base/java.lang.reflect',
  'java.base/java.nio',
  'java.base/java.util',
  'java.base/java.util.concurrent',
  'java.base/java.util.concurrent.atomic',
  'java.base/jdk.internal.loader',
  'java.base/jdk.internal.math',
  'java.base/jdk.internal.module',
  'java.base/jdk.internal.ref',
  'java.base/jdk.internal.reflect',
  'java.base/jdk.internal.util.jar',
  'java.base/sun.nio.ch',
  'jdk.management/com.sun.management.internal'
]

/** Cassandra's own options for Java 17, which its tools need too. */
export const MODULES: readonly string[] = [
  ...EXPORTED.map((name) => `--add-exports=${name}=ALL-UNNAMED`),
  ...OPENED.map((name) => `--add-opens=${name}=ALL-UNNAMED`)
]

/** Options that shorten the start. */
const OPTIONS = [
  '-Dcassandra-foreground=yes',
  '-Dcassandra.ring_delay_ms=0',
  '-Dcassandra.skip_wait_for_gossip_to_settle=0',
  '-Dcassandra.superuser_setup_delay_ms=0',
  '-Dcassandra.size_recorder_interval=15',
  '-Djdk.attach.allowAttachSelf=true',
  '-Dio.netty.tryReflectionSetAccessible=true',
  ...MODULES
]
