import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { types } from 'cassandra-driver'
import { cassandraJars } from './cassandra-jars.ts'
import { cassandraNode, dataFolderOf, TEST_HEAP_MIB, type CassandraNodeOptions } from './cassandra-node.ts'
import { freePort } from './free-port.ts'
import { endClient, plainClient } from './plain-client.ts'
import { makeServerFolder, removeServerFolder, ServerProcess } from './server-process.ts'

export const CQL_DATACENTER = 'datacenter1'
/** The superuser that Cassandra creates if it requires authentication. */
export const CQL_SUPERUSER = { username: 'cassandra', password: 'cassandra' } as const

const SEE_EACH_OTHER_WITHIN_MS = 300_000

export interface CqlClusterOptions {
  /** Number of nodes, 1 by default. Three are on 127.0.0.1, .2 and .3. */
  readonly nodes?: number
  /** Whether clients need a name and a password (CQL_SUPERUSER), and have permissions. False by default. */
  readonly authentication?: boolean
  /** Whether nodes run as fast as possible, for a measurement, and start more slowly. False by default. */
  readonly fast?: boolean
  /** Whether a write is on disk before it is acknowledged, so that a single node loses none. False by default. */
  readonly durable?: boolean
  /**
   * Whether nodes are never started again. Creating or emptying the tables of a store then takes a fourth to an eighth of
   * the CPU time. False by default.
   */
  readonly disposable?: boolean
  /** Heap of a node. Default: what suffices for tests. */
  readonly heapMib?: number
  /** Whether nodetool reaches the nodes, as `writeCassandraTools` needs. False by default. */
  readonly hasTools?: boolean
}

/** One node, killed and paused separately from the others. Its data survives a kill. */
export class CqlNode extends ServerProcess {
  readonly address: string
  /** Folder of its tables. */
  readonly dataFolder: string
  /** Port for nodetool, or null. */
  readonly jmxPort: number | null
  readonly jars: string

  constructor(options: CassandraNodeOptions) {
    const command = cassandraNode(options)
    super(command)
    this.address = command.address
    this.dataFolder = dataFolderOf(options.folder)
    this.jmxPort = options.jmxPort
    this.jars = options.jars
  }
}

/** Nodes of Apache Cassandra that belong to one test. They end with the process that started them at the latest. */
export class CqlCluster {
  readonly nodes: readonly CqlNode[]
  /** The port of every node. */
  readonly port: number
  readonly datacenter = CQL_DATACENTER
  readonly #folder: string
  readonly #authentication: boolean

  private constructor(nodes: readonly CqlNode[], port: number, folder: string, authentication: boolean) {
    this.nodes = nodes
    this.port = port
    this.#folder = folder
    this.#authentication = authentication
  }

  /** Starts the nodes, which takes 8 s for one and 15 s for three on two idle cores. Resolves once each sees all others. */
  static async start(options: CqlClusterOptions = {}): Promise<CqlCluster> {
    const {
      nodes: count = 1,
      authentication = false,
      fast = false,
      durable = false,
      disposable = false,
      heapMib = TEST_HEAP_MIB,
      hasTools = false
    } = options
    const jars = await cassandraJars()
    const addresses = Array.from({ length: count }, (_, index) => `127.0.0.${index + 1}`)
    const port = await freePort(addresses)
    const storagePort = await freePort(addresses)
    const jmxPort = hasTools ? await freePort(['127.0.0.1'], count) : null
    const folder = makeServerFolder('cassandra')
    const nodes = addresses.map((address, index) => {
      const own = join(folder, `node${index + 1}`)
      mkdirSync(own)
      const token = -(2n ** 63n) + (2n ** 64n / BigInt(count)) * BigInt(index)
      const shared = {
        ...{ port, storagePort, seeds: addresses, authentication },
        ...{ fast, durable, disposable, heapMib, jars }
      }
      return new CqlNode({
        ...shared,
        address,
        token,
        folder: own,
        jmxPort: jmxPort === null ? null : jmxPort + index
      })
    })
    const cluster = new CqlCluster(nodes, port, folder, authentication)
    try {
      await Promise.all(nodes.map((node) => node.start()))
      await cluster.ready()
      return cluster
    } catch (error) {
      await cluster.end()
      throw error
    }
  }

  /** Addresses of all nodes, `address:port`. */
  get contactPoints(): string[] {
    return this.nodes.map(({ address }) => `${address}:${this.port}`)
  }

  /** Resolves once every node reads from all nodes of the cluster. */
  async ready(): Promise<void> {
    const deadline = performance.now() + SEE_EACH_OTHER_WITHIN_MS
    for (;;) {
      try {
        await this.#readEverywhere()
        return
      } catch (error) {
        if (performance.now() > deadline) throw new Error('the nodes do not see each other', { cause: error })
        await delay(200)
      }
    }
  }

  async #readEverywhere(): Promise<void> {
    const { contactPoints, port, datacenter } = this
    const client = plainClient({
      contactPoints,
      port,
      datacenter,
      ...(this.#authentication && { credentials: CQL_SUPERUSER })
    })
    try {
      await client.connect()
      const known = client.hosts.values()
      if (known.length !== this.nodes.length) throw new Error(`${known.length} nodes are known`)
      // This keyspace of Cassandra has three replicas, so a read at ALL queries every one of three nodes.
      const query = 'SELECT view_name FROM system_distributed.view_build_status LIMIT 1'
      const consistency = this.nodes.length === 3 ? types.consistencies.all : types.consistencies.one
      for (const host of known) await client.execute(query, [], { host, consistency })
    } finally {
      await endClient(client)
    }
  }

  /** Kills the nodes and deletes their data. */
  async end(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()))
    removeServerFolder(this.#folder)
  }
}
