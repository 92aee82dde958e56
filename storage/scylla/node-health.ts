import { errors, policies, types } from 'cassandra-driver'
import type { Client, ExecutionOptions, Host, HostMap, QueryOptions } from 'cassandra-driver'
import { sleep, type Clock } from '../../src/ports.ts'

/** Interval of health checks of a node, in milliseconds. With the limit below, a node that hangs is avoided after 0.75 s. */
const CHECK_EVERY_MS = 250
/**
 * Checks are this many times rarer while the process is idle and all nodes answer. Its few reads go to a second node after
 * 100 ms anyway, and a check costs a process without clients as much as a block.
 */
const IDLE_FACTOR = 4
/** A healthy node takes 1 ms, one that collects garbage 100 ms: five times that is no answer. */
const CHECK_WITHIN_MS = 500

/** A row that every node reads from its own memory, whatever becomes of the others. */
const CHECK = "SELECT key FROM system.local WHERE key = 'local'"
const CHECK_OPTIONS: QueryOptions = {
  consistency: types.consistencies.localOne,
  readTimeout: CHECK_WITHIN_MS,
  captureStackTrace: false
}

/**
 * Nodes that did not answer their last health check. The driver itself notices a hanging node only by statements that time
 * out there, and not by those that a second node answered.
 */
export class NodeHealth {
  readonly #unhealthy = new Set<string>()
  readonly #checking = new Set<string>()

  isUnhealthy({ address }: Host): boolean {
    return this.#unhealthy.has(address)
  }

  /** Whether all nodes answered, as far as is known. */
  get isSound(): boolean {
    return this.#unhealthy.size === 0
  }

  /**
   * Checks nodes until `end` aborts, each by one statement at a time; never rejects. A node that the driver considers down
   * is checked once it is up again. `isBusy` is called at each interval, and says whether the process is not idle.
   */
  async watch(
    driver: Client,
    nodesUp: () => readonly Host[],
    clock: Clock,
    end: AbortSignal,
    isBusy: () => boolean = () => true
  ): Promise<void> {
    for (let idle = 0; !end.aborted; idle++) {
      if (isBusy() || !this.isSound || idle === IDLE_FACTOR) idle = 0
      if (idle === 0)
        for (const node of nodesUp()) if (!this.#checking.has(node.address)) void this.#check(driver, node)
      await sleep(clock, CHECK_EVERY_MS, end)
    }
  }

  async #check(driver: Client, host: Host): Promise<void> {
    this.#checking.add(host.address)
    try {
      await driver.execute(CHECK, [], { ...CHECK_OPTIONS, host })
      this.#unhealthy.delete(host.address)
    } catch (error) {
      // A node that refuses has answered.
      if (error instanceof errors.ResponseError) this.#unhealthy.delete(host.address)
      else this.#unhealthy.add(host.address)
    } finally {
      this.#checking.delete(host.address)
    }
  }
}

/**
 * The plan of another policy, with unhealthy nodes last. They stay in the plan: a cluster without a healthy node is still
 * used, so that an outage follows from statements and never from health checks.
 */
export class HealthyNodesFirst extends policies.loadBalancing.LoadBalancingPolicy {
  readonly #inner: policies.loadBalancing.LoadBalancingPolicy
  readonly #health: NodeHealth

  constructor(inner: policies.loadBalancing.LoadBalancingPolicy, health: NodeHealth) {
    super()
    this.#inner = inner
    this.#health = health
  }

  override init(client: Client, hosts: HostMap, callback: (error: Error) => void): void {
    this.#inner.init(client, hosts, callback)
  }

  override getDistance(host: Host): types.distance {
    return this.#inner.getDistance(host)
  }

  override newQueryPlan(
    keyspace: string,
    options: ExecutionOptions,
    callback: (error: Error, plan: Iterator<Host>) => void
  ): void {
    this.#inner.newQueryPlan(keyspace, options, (error, plan) => {
      const isAsItIs = this.#health.isSound || (error as Error | null) !== null
      callback(error, isAsItIs ? plan : this.#healthyFirst(plan))
    })
  }

  override getOptions(): Map<string, object> {
    return this.#inner.getOptions()
  }

  *#healthyFirst(plan: Iterator<Host>): Generator<Host, void, undefined> {
    const unhealthy: Host[] = []
    for (let next = plan.next(); next.done !== true; next = plan.next()) {
      if (this.#health.isUnhealthy(next.value)) unhealthy.push(next.value)
      else yield next.value
    }
    yield* unhealthy
  }
}
