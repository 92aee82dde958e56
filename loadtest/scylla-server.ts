import { readFileSync } from 'node:fs'
import { Client, types } from 'cassandra-driver'
import { openScyllaStorage } from '../storage/scylla/store.ts'
import type { ScyllaStorageOptions } from '../storage/scylla/store.ts'
import type { Storage } from '../storage/port.ts'
import { CqlCluster } from '../test/servers/cql-cluster.ts'
import type { CqlServer } from '../test/servers/cql.ts'

export const KEYSPACE = 'measured'
/** Unit of the processor times in /proc; Linux uses 100 on every machine that Node supports. */
const TICKS_PER_SECOND = 100

/** Options of the bare driver's statements: prepared, the adapter's consistency, else the driver's cheapest options. */
export const BARE = {
  prepare: true,
  isIdempotent: true,
  consistency: types.consistencies.localQuorum,
  captureStackTrace: false
} as const

/** One CQL node on this machine, with the adapter and the bare driver on it. */
export interface MeasuredCql {
  readonly storage: Storage
  readonly bare: Client
  readonly server: CqlServer
  /** Opens another store in its own keyspace. The caller closes it. */
  open(keyspace: string, options?: Partial<ScyllaStorageOptions>): Promise<Storage>
  /** Closes the adapter, which flushes all commits into the tables, and opens it again. */
  reopen(): Promise<void>
  /** Processor milliseconds of all threads of the node since its start. */
  serverCpuMs(): number
  end(): Promise<void>
}

export async function startCql(): Promise<MeasuredCql> {
  const cluster = await CqlCluster.start({ fast: true })
  const { contactPoints, port, datacenter } = cluster
  const open = (keyspace: string, options: Partial<ScyllaStorageOptions> = {}): Promise<Storage> =>
    openScyllaStorage({
      contactPoints,
      port,
      datacenter,
      keyspace,
      username: null,
      password: null,
      replication: 1,
      retentionSeconds: null,
      logSeconds: null,
      ...options
    })
  let storage = await open(KEYSPACE)
  const bare = new Client({
    contactPoints,
    localDataCenter: datacenter,
    keyspace: KEYSPACE,
    protocolOptions: { port },
    encoding: { useBigIntAsLong: true, copyBuffer: false }
  })
  await bare.connect()
  return {
    get storage() {
      return storage
    },
    bare,
    server: cluster,
    open,
    async reopen() {
      await storage.close()
      storage = await open(KEYSPACE)
    },
    serverCpuMs() {
      const fields = readFileSync(`/proc/${cluster.nodes[0]!.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
    },
    async end() {
      await storage.close()
      await bare.shutdown()
      await cluster.end()
    }
  }
}

/** Runs `count` pieces of work with at most `most` in flight. */
export async function withConcurrency(
  most: number,
  count: number,
  run: (at: number) => Promise<unknown>
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: Math.min(most, count) }, worker))
}

/** Duration of a round by the clock, and processor time of both processes. */
export interface RoundTime {
  readonly ms: number
  readonly cpuMs: number
  readonly serverCpuMs: number
}

export async function timed(cql: MeasuredCql, run: () => Promise<unknown>): Promise<RoundTime> {
  const [cpu, serverCpuMs, started] = [process.cpuUsage(), cql.serverCpuMs(), performance.now()]
  await run()
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + system) / 1_000, serverCpuMs: cql.serverCpuMs() - serverCpuMs }
}
