import { errors } from 'cassandra-driver'
import type { ArrayOrObject, Client, Host, QueryOptions, types } from 'cassandra-driver'
import { sleep, type Ports } from '../../src/ports.ts'
import { pauseAfter } from './back-off.ts'
import { newDriver, type DriverOptions, type NewDriver } from './driver.ts'
import type { NodeHealth } from './node-health.ts'

/** Time limit for all contact points together. */
const CONNECT_WITHIN_MS = 10_000
/** Pauses between tries to connect again. The longest is well below the 5 s in which ingest resumes after an outage. */
const RETRY_PAUSE_MS = { first: 100, most: 1_000 }

/**
 * A connected driver.
 *
 * S1. Once no node of the datacenter is up, the driver is ended, and a new one tries to connect until closed. After a loss
 *     of all nodes the driver's own reconnections race each other, and may end with none.
 * S2. Meanwhile statements reject at once with the error of the last try.
 */
export class Session {
  readonly #options: DriverOptions
  readonly #keyspace: string | null
  readonly #ports: Ports
  readonly #closing = new AbortController()
  #driver: Client | null = null
  #health: NodeHealth | null = null
  #problem: unknown = null

  private constructor(options: DriverOptions, keyspace: string | null, ports: Ports) {
    this.#options = options
    this.#keyspace = keyspace
    this.#ports = ports
  }

  /** Connects within 10 s; rejects with the driver's own error. A keyspace of null is for statements that name theirs. */
  static async connect(options: DriverOptions, keyspace: string | null, ports: Ports): Promise<Session> {
    const session = new Session(options, keyspace, ports)
    session.#use(await connected(options, keyspace, ports))
    return session
  }

  /** Rejects with the driver's error. */
  async execute(
    statement: string,
    params: readonly unknown[],
    options: QueryOptions
  ): Promise<types.ResultSet> {
    return this.#noted(options, (driver) => driver.execute(statement, params as unknown[], options))
  }

  /** Rejects with the driver's error. */
  async batch(
    queries: { query: string; params: ArrayOrObject }[],
    options: QueryOptions
  ): Promise<types.ResultSet> {
    return this.#noted(options, (driver) => driver.batch(queries, options))
  }

  /** Returns the token of a partition key of one column. Throws the driver's error. */
  partitionToken(key: Buffer): bigint {
    return BigInt(String(this.#connected().metadata.newToken(key).getValue()))
  }

  /** The nodes of the datacenter that answer, as far as is known, in an order that every process shares. */
  get nodesUp(): Host[] {
    if (this.#driver === null) return []
    return upIn(this.#driver, this.#options.datacenter)
      .filter((node) => this.#health?.isUnhealthy(node) !== true)
      .sort((a, b) => (a.address < b.address ? -1 : 1))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#driver?.shutdown()
  }

  /** Sends a statement, and notes the node that has answered. */
  async #noted(
    { isIdempotent }: QueryOptions,
    send: (driver: Client) => Promise<types.ResultSet>
  ): Promise<types.ResultSet> {
    const driver = this.#connected()
    const health = this.#health
    health?.sent(isIdempotent === false, this.#ports.clock.now())
    const answer = await send(driver)
    health?.answered(answer.info.queriedHost)
    return answer
  }

  #connected(): Client {
    if (this.#driver === null) throw this.#problem
    return this.#driver
  }

  #use({ driver, health }: NewDriver): void {
    this.#driver = driver
    this.#health = health
    // The driver's own reconnection would race ours, and leave connections behind that cannot be ended.
    internalsOf(driver).controlConnection._initializeConnection = () => Promise.reject(lostAll())
    const { datacenter } = this.#options
    const replaced = new AbortController()
    const look = (): void => {
      if (this.#driver !== driver || this.#closing.signal.aborted) return
      if (upIn(driver, datacenter).length > 0) return
      replaced.abort()
      void this.#replace(driver)
    }
    const end = AbortSignal.any([this.#closing.signal, replaced.signal])
    void health.watch(driver, () => upIn(driver, datacenter), this.#ports.clock, end)
    driver.on('hostDown', look)
    look()
  }

  /** S1; never rejects. */
  async #replace(old: Client): Promise<void> {
    this.#driver = null
    this.#problem = lostAll()
    void old.shutdown().catch(() => undefined)
    const { signal } = this.#closing
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        const made = await connected(this.#options, this.#keyspace, this.#ports)
        if (signal.aborted) await made.driver.shutdown()
        else this.#use(made)
        return
      } catch (error) {
        this.#problem = error
      }
      const { clock, random } = this.#ports
      await sleep(clock, pauseAfter(tries, RETRY_PAUSE_MS, random), signal)
    }
  }
}

const upIn = (driver: Client, datacenter: string): Host[] =>
  driver.hosts.values().filter((node) => node.datacenter === datacenter && node.isUp())

/** Returns a connected driver; a failed one leaves nothing open. */
async function connected(options: DriverOptions, keyspace: string | null, ports: Ports): Promise<NewDriver> {
  const made = newDriver(options, keyspace)
  const { driver, nodes } = made
  const late = new AbortController()
  const connecting = driver.connect()
  try {
    await Promise.race([connecting, tooLate(ports, late.signal)])
    if (nodes.problem !== null) throw nodes.problem
    return made
  } catch (error) {
    // A driver that is still connecting is shut down once it has connected. If it fails, it forgets its first connection,
    // which is closed here.
    void connecting
      .then(
        () => driver.shutdown(),
        () => internalsOf(driver).controlConnection.connection?.close()
      )
      .catch(() => undefined)
    throw error
  } finally {
    late.abort()
  }
}

/** Methods of the driver that its types leave out: how it connects first, and again after all nodes were unreachable. */
interface Internals {
  readonly controlConnection: {
    readonly connection: { close(): void } | null
    _initializeConnection: () => Promise<void>
  }
}

const internalsOf = (driver: Client): Internals => driver as unknown as Internals

const lostAll = (): Error => new errors.NoHostAvailableError({})

/** Rejects once connecting takes too long; never, if it was aborted before. */
async function tooLate({ clock }: Ports, signal: AbortSignal): Promise<never> {
  await sleep(clock, CONNECT_WITHIN_MS, signal)
  if (signal.aborted) return new Promise(() => undefined)
  throw new errors.OperationTimedOutError(`no answer within ${CONNECT_WITHIN_MS / 1_000} s`)
}
