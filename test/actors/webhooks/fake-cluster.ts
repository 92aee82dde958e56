import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { DynamicSupervisor } from '../../../actors/supervision/dynamic-supervisor.ts'
import type { ShardOwner } from '../../../actors/shards/shard-owner.ts'
import { DELIVERY_POLICY } from '../../../actors/webhooks/owned-webhook.ts'
import { webhookShards, type WebhookShard } from '../../../actors/webhooks/shard.ts'
import { LocalDeliveries } from '../../../src/webhooks/local-deliveries.ts'
import type { WebhookSender } from '../../../src/webhooks/webhook.ts'
import type { HintChannel, Lease, Leases } from '../../../storage/cluster/coordination.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { tenantShard } from '../../../src/access/tenant-shard.ts'

/** Milliseconds that a lease outlives a process that has died, as on Redis. */
const LEASE_MS = 3_000

/** Hints between the members of a cluster; a hint is heard at once. */
class FakeHints<What> {
  /** Whether hints are silently lost. */
  isLosing = false
  #available = true
  readonly #listeners = new Map<object, (what: What | null) => void>()

  get available(): boolean {
    return this.#available
  }

  /** Tells whoever listens that hints may be lost, as Redis does. */
  set available(isAvailable: boolean) {
    this.#available = isAvailable
    for (const heard of this.#listeners.values()) heard(null)
  }

  of(member: object): HintChannel<What> {
    const isAvailable = (): boolean => this.available
    return {
      get available() {
        return isAvailable()
      },
      publish: (what) => {
        if (this.isLosing || !this.available) return
        for (const [other, heard] of this.#listeners) if (other !== member) heard(what)
      },
      subscribe: (heard) => {
        this.#listeners.set(member, heard)
        return () => void this.#listeners.delete(member)
      }
    }
  }
}

interface Grant {
  readonly member: Member
  readonly lost: AbortController
}

/** A process that delivers to webhooks. */
export class Member {
  readonly local = new LocalDeliveries()
  readonly owner: ShardOwner<WebhookShard>
  readonly warnings: string[] = []
  /** Whether it was killed. Its leases then end by themselves. */
  diedAtMs: number | null = null
  ended = false
  readonly running: Promise<void>
  readonly #draining = new AbortController()
  readonly #killed = new AbortController()
  readonly #cluster: FakeCluster

  constructor(cluster: FakeCluster, index: number) {
    this.#cluster = cluster
    const { world, documents, deliverers, webhooks } = cluster
    const sender: WebhookSender = {
      post: (_tenant, request, signal) => world.receiver.post(request, signal, index)
    }
    const coordination = {
      leases: cluster.hasLeases ? cluster.leasesOf(this) : null,
      webhooks: webhooks.of(this),
      deliverers: deliverers.of(this)
    }
    const deps = world.deps()
    const report = (fault: unknown): void => void cluster.faults.push(fault)
    this.owner = webhookShards(coordination, {
      ...deps,
      deliveries: new DynamicSupervisor(DELIVERY_POLICY, { ...deps, report }),
      sender,
      documents,
      isShared: true,
      local: this.local,
      logger: { info: () => undefined, warn: (text: string) => void this.warnings.push(text) },
      report
    })
    this.running = this.owner
      .run(this.#draining.signal, this.#killed.signal)
      .finally(() => (this.ended = true))
    this.running.catch(() => undefined)
  }

  get shards(): number {
    return this.owner.shards.length
  }

  get webhooks(): number {
    return this.owner.shards.reduce((sum, { webhooks }) => sum + webhooks, 0)
  }

  drain(): void {
    this.#draining.abort()
  }

  /** Ends it as a kill does: its leases are not released. */
  async die(): Promise<void> {
    this.diedAtMs = this.#cluster.clock.now()
    this.#killed.abort()
    this.#draining.abort()
    await this.running
  }
}

/** Processes that share the shards of webhooks, in virtual time. */
export class FakeCluster {
  readonly world = new DeliveryWorld()
  readonly clock = this.world.clock
  readonly documents = this.world.store
  readonly deliverers = new FakeHints<string>()
  readonly webhooks = new FakeHints<void>()
  readonly members: Member[] = []
  readonly faults: unknown[] = []
  readonly hasLeases: boolean
  readonly #grants = new Map<string, Grant>()
  #token = 0

  constructor(hasLeases = true) {
    this.hasLeases = hasLeases
  }

  join(): Member {
    const member = new Member(this, this.members.length)
    this.members.push(member)
    return member
  }

  /** Numbers of shards of the members. */
  get shards(): number[] {
    return this.members.map(({ shards }) => shards)
  }

  /** Returns the member that has the lease of a tenant's shard. */
  holderOf(tenant: string): Member | undefined {
    return this.#grants.get(`webhooks:${tenantShard(tenant)}`)?.member
  }

  /** Passes time in steps of 100 ms, the least common part of all waits. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      this.clock.increment(100)
      await this.settle(12)
    }
  }

  async settle(turns = 60): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await yieldToEventLoop()
  }

  leasesOf(member: Member): Leases {
    return {
      acquire: async (name) => {
        const held = this.#grants.get(name)
        if (held !== undefined && this.#isAlive(held)) return null
        if (member.diedAtMs !== null) return null
        const grant = { member, lost: new AbortController() }
        this.#grants.set(name, grant)
        return this.#lease(name, grant, ++this.#token)
      }
    }
  }

  #isAlive({ member: { diedAtMs } }: Grant): boolean {
    return diedAtMs === null || this.clock.now() < diedAtMs + LEASE_MS
  }

  #lease(name: string, grant: Grant, token: number): Lease {
    return {
      token,
      lost: grant.lost.signal,
      held: true,
      release: async () => {
        if (grant.member.diedAtMs === null && this.#grants.get(name) === grant) this.#grants.delete(name)
        grant.lost.abort(new Error('released'))
      }
    }
  }
}
