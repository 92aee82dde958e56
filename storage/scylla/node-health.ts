import { errors, policies, types } from 'cassandra-driver'
import type { Client, ExecutionOptions, Host, HostMap, QueryOptions } from 'cassandra-driver'
import { sleep, type Clock } from '../../src/ports.ts'

/** Interval of health checks of a node, in milliseconds. With the limit below, a node that hangs is avoided after 0.75 s. */
const CHECK_EVERY_MS = 250
/**
 * Checks are this many times rarer while the process is idle and all nodes answer, and a node that has answered a statement
 * since the last one is not checked. Its few reads go to a second node after 100 ms anyway, and a check costs a process without
 * clients as much as a block.
 */
const IDLE_FACTOR = 4
/** Statements within `CHECK_EVERY_MS` from which a process is busy. One without clients has one or two. */
const BUSY_STATEMENTS = 5
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
  /** Nodes that have answered a statement since the last checks. */
  readonly #answered = new Set<string>()
  /** Statements since a time, for at most `CHECK_EVERY_MS`. */
  #sent = { sinceMs: -Infinity, statements: 0 }
  #isBusy = false
  /** Ends the pause of an idle process; null in a shorter one. */
  #idleRest: AbortController | null = null

  isUnhealthy({ address }: Host): boolean {
    return this.#unhealthy.has(address)
  }

  /** Notes a statement that is sent. A conditional write makes a process busy by itself: it goes to one node alone. */
  sent(isConditional: boolean, nowMs: number): void {
    if (nowMs - this.#sent.sinceMs >= CHECK_EVERY_MS) this.#sent = { sinceMs: nowMs, statements: 0 }
    this.#sent.statements += isConditional ? BUSY_STATEMENTS : 1
    if (this.#sent.statements < BUSY_STATEMENTS) return
    this.#isBusy = true
    this.#idleRest?.abort()
  }

  /** Notes that a node has answered a statement. */
  answered(address: string): void {
    this.#answered.add(address)
  }

  /** Whether all nodes answered, as far as is known. */
  get isSound(): boolean {
    return this.#unhealthy.size === 0
  }

  /**
   * Checks nodes until `end` aborts, each by one statement at a time; never rejects. A node that the driver considers down
   * is checked once it is up again.
   */
  async watch(driver: Client, nodesUp: () => readonly Host[], clock: Clock, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const isIdle = !this.#isBusy && this.isSound
      this.#isBusy = false
      for (const node of nodesUp()) {
        const isKnown = isIdle && this.#answered.has(node.address)
        if (!isKnown && !this.#checking.has(node.address)) void this.#check(driver, node)
      }
      this.#answered.clear()
      const rest = new AbortController()
      this.#idleRest = isIdle ? rest : null
      await sleep(clock, CHECK_EVERY_MS * (isIdle ? IDLE_FACTOR : 1), AbortSignal.any([end, rest.signal]))
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
      else {
        this.#unhealthy.add(host.address)
        this.#idleRest?.abort()
      }
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
