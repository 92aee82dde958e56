import { join } from 'node:path'
import type { Test } from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import type { CqlServer } from '../servers/cql.ts'
import { scyllaOptions } from '../storage/scylla-keyspace.ts'
import { until } from './asking.ts'
import { clusterEnvironment } from './cluster.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'

/** Last lines of the log of a process that are shown if the test fails. */
const LINES_SHOWN = 25
const WITNESS = 'witness'
const WITHOUT_QUOTAS = ['--rate-limit-per-minute', '1000000', '--work-per-minute', '1000000000']

export interface ChainFleetOptions {
  readonly server: CqlServer
  readonly keyspace: string
  /** Copies of each row, 1 by default. */
  readonly replication?: number
  readonly redisUrl: string
  /** URL of the node whose chain is indexed. */
  readonly rpcUrl: string
  readonly directory: string
}

/** Whether a process runs. */
export const isRunning = ({ child }: ServiceProcess): boolean =>
  child.exitCode === null && child.signalCode === null

/** Processes of one service on a chain of the test, each with one role, and one that indexes the chain alone. */
export class ChainFleet {
  readonly #t: Test
  readonly #options: ChainFleetOptions
  readonly #processes = new Map<string, ServiceProcess>()

  constructor(t: Test, options: ChainFleetOptions) {
    this.#t = t
    this.#options = options
  }

  /**
   * Starts a process of a role under a name of its own; `root` is the folder of its sources if they are those of another
   * version.
   */
  async start(name: string, role: string, root?: string): Promise<ServiceProcess> {
    const { server, keyspace, redisUrl, replication = 1 } = this.#options
    const service = await this.#start(name, {
      environment: {
        ...clusterEnvironment(server, keyspace, redisUrl),
        MILLRACE_SCYLLA_REPLICATION: String(replication),
        MILLRACE_ALLOW_PRIVATE_WEBHOOKS: 'true',
        MILLRACE_TPU: 'off'
      },
      more: ['--role', role],
      ...(root !== undefined && { root })
    })
    this.#processes.set(name, service)
    return service
  }

  /** Starts the same service alone, on an embedded store: an undisturbed reader of the chain. */
  startWitness(): Promise<ServiceProcess> {
    return this.#start(WITNESS, {})
  }

  /** Returns the running processes whose names begin with a text. */
  named(start: string): ServiceProcess[] {
    return [...this.#processes].flatMap(([name, service]) =>
      name.startsWith(start) && isRunning(service) ? [service] : []
    )
  }

  nameOf(service: ServiceProcess): string {
    return [...this.#processes].find(([, each]) => each === service)![0]
  }

  /** Resolves with the process that holds a lease of a product, by what the processes announce to each other. */
  holderOf(product: string, lease: string): Promise<ServiceProcess> {
    return until(async () => {
      const asked = this.named('gateway')[0]
      if (asked === undefined) return null
      const { body } = await asked.get('/v1/admin/fleet')
      const held = body.data.find(({ shards }) =>
        (shards as Readonly<Record<string, readonly string[]>>)[product]?.includes(lease)
      )
      const pid = Number(String(held?.['name']).split('/').at(-1))
      return this.named('').find(({ child }) => child.pid === pid) ?? null
    }, `a process has the lease ${lease}`)
  }

  /** Opens the store of the fleet until the test ends. */
  async openStorage(): Promise<Storage> {
    const { server, keyspace, replication = 1 } = this.#options
    const storage = await openScyllaStorage({ ...scyllaOptions(server, keyspace), replication })
    this.#t.teardown(() => storage.close())
    return storage
  }

  /** Opens the store of the witness, which has ended, until the test ends. */
  async openWitness(): Promise<Storage> {
    const directory = join(this.#options.directory, WITNESS, 'store')
    const storage = await openEmbeddedStorage({ directory })
    this.#t.teardown(() => storage.close())
    return storage
  }

  async #start(
    name: string,
    {
      more = [],
      ...rest
    }: {
      readonly environment?: Readonly<Record<string, string>>
      readonly more?: readonly string[]
      readonly root?: string
    }
  ): Promise<ServiceProcess> {
    const { directory, rpcUrl } = this.#options
    const service = await startProcess({
      dataDir: join(directory, name),
      recordedDir: null,
      more: ['--source', 'rpc', '--rpc-url', rpcUrl, ...WITHOUT_QUOTAS, ...more],
      ...rest
    })
    this.#t.teardown(async () => {
      if (isRunning(service)) await service.end('SIGKILL')
      if (this.#t.passing()) return
      for (const line of service.stderr.slice(-LINES_SHOWN)) this.#t.comment(`${name}: ${line}`)
    })
    return service
  }
}
