import type { UpstreamContext, UpstreamPolicy, UpstreamState } from '../../machines/upstream.machine.ts'
import { NodeError, refusesRequest } from '../../src/node/node-fault.ts'
import type { NodeAddress } from '../../src/node/node-address.ts'
import type { Ports } from '../../src/ports.ts'
import { COMMITMENTS, type Commitment } from '../../src/rpc/commitment.ts'
import type { MethodCosts } from '../../src/rpc/method-costs.ts'
import { NodeBudget } from '../../src/rpc/node-budget.ts'
import type { NodeId } from '../../src/rpc/node-ids.ts'
import { NodeStatistics } from '../../src/rpc/node-statistics.ts'
import type { RpcUpstream } from '../../src/rpc/upstreams.ts'
import { NodeHealth } from '../ingest/node-health.ts'
import type { ResponseStart } from '../../src/node/answer-body.ts'
import { NodeLink, type NodeLinkTuning } from './node-link.ts'
import { probeCost, readGenesis, readSlots } from './node-probe.ts'

export interface UpstreamNodeTuning extends UpstreamPolicy {
  readonly link: NodeLinkTuning
  /** Probe intervals in milliseconds: while clients send requests, and while no client does. */
  readonly probeMs: number
  readonly idleProbeMs: number
  readonly probeTimeoutMs: number
  /** The costs of requests in the node's budget. */
  readonly costs: MethodCosts
}

/** The place of a node in the operator's settings. */
export interface NodePlace {
  readonly index: number
  readonly isArchive: boolean
  readonly id: NodeId
  /** The operator's limit of costs a second; null if unlimited. */
  readonly limit: number | null
}

/** A node's view of the others. */
export interface NodeSurroundings {
  /** The newest slot known at processed, without this node. */
  readonly newest: () => number
  /** Tells whether clients have sent requests lately. */
  readonly isBusy: () => boolean
  /** Checks a genesis; returns null, or why the node is of another cluster. */
  readonly admit: (genesis: string) => Promise<string | null>
  /** Tells whether the other nodes, or the blocks in the store, bear out a slot. */
  readonly isBorneOut: (slot: number) => boolean
  /** Called when the node proves a slot that is newer than its last one. */
  readonly reached: (commitment: Commitment, slot: number) => void
  /** Called after each probe, and when the state changes. */
  readonly changed: () => void
}

/** Weight of the latest request in the average latency: about the last ten count. */
const LATENCY_WEIGHT = 0.1
/**
 * Slots that an answer may be above the last probe, besides the slots that can have passed since: about 25 s. The
 * greater it is, the further a node with a false slot can put a client ahead of the others.
 */
const REACH_SLOTS = 64
/** The shortest slot of a chain, in milliseconds: that of a fast localnet. */
const SLOT_MS_MIN = 10
/**
 * Milliseconds for which a node that went down is still the last resort of a request: its fault may be over before its
 * next probe. 10 s is the longest probe interval of a node that is down.
 */
const LAST_RESORT_MS = 10_000
/** Share of a node's budget that probes may take: under a low limit they are rarer, and the rest is for clients. */
const PROBES_SHARE = 0.5
/** A node behind the RPC URL: it is probed all the time, and its slots are those that its answers prove. */
export class UpstreamNode implements RpcUpstream {
  readonly index: number
  readonly isArchive: boolean
  readonly id: NodeId
  readonly link: NodeLink
  readonly budget: NodeBudget
  readonly statistics: NodeStatistics
  readonly #tuning: UpstreamNodeTuning
  readonly #around: NodeSurroundings
  readonly #ports: Ports
  readonly #health: NodeHealth
  /** In the order of COMMITMENTS. */
  #slots: (number | null)[] = [null, null, null]
  #probedAtMs = 0
  /** When it went down after being used; null if it has not since its last good probe. */
  #wentDownAtMs: number | null = null
  #latencyMs: number | null = null
  #cordonedAtMs: number | null = null
  /** Whether it takes batches; retried after each absence. */
  takesBatches = true
  /** Claims of slots that were refused, and answers older than the node's own claim. */
  falseSlots = 0
  /** Id of the next request. */
  #id = 0

  constructor(
    address: NodeAddress,
    place: NodePlace,
    tuning: UpstreamNodeTuning,
    around: NodeSurroundings,
    ports: Ports
  ) {
    this.index = place.index
    this.isArchive = place.isArchive
    this.id = place.id
    this.budget = new NodeBudget(place.limit, ports.clock.now())
    this.statistics = new NodeStatistics(ports.clock.now())
    this.#tuning = tuning
    this.#around = around
    this.#ports = ports
    this.link = new NodeLink(address, ports.clock, tuning.link)
    const checks = {
      name: this.name,
      probeLimitMs: tuning.probeTimeoutMs,
      intervalMs: () => this.#intervalMs(),
      admit: async (signal: AbortSignal) => around.admit(await readGenesis(this, signal)),
      readSlots: async (signal: AbortSignal) => this.#note(await this.#readSlots(signal)),
      probed: around.changed,
      stateChanged: (state: UpstreamState, before: UpstreamState) => this.#stateChanged(state, before)
    }
    this.#health = new NodeHealth(tuning, checks, ports)
  }

  get name(): string {
    return this.link.name
  }

  get state(): UpstreamState {
    return this.#health.state
  }

  get facts(): UpstreamContext {
    return this.#health.facts
  }

  get latencyMs(): number | null {
    return this.#latencyMs
  }

  get costs(): MethodCosts {
    return this.#tuning.costs
  }

  /** When an operator took it out of use, in unix milliseconds; null if it is in use. */
  get cordonedAtMs(): number | null {
    return this.#cordonedAtMs
  }

  /** Takes the node out of use, or into use again with null. */
  cordon(atMs: number | null): void {
    const hasChanged = (atMs === null) !== (this.#cordonedAtMs === null)
    this.#cordonedAtMs = atMs
    if (hasChanged) this.#around.changed()
  }

  /** Whether it is up and in use. */
  get isUsable(): boolean {
    if (this.#cordonedAtMs !== null) return false
    return this.#health.isUp && !this.link.isResting
  }

  /** Tells whether its budget admits a request now. */
  admits(cost: number): boolean {
    return this.budget.admits(cost, this.#ports.clock.now())
  }

  /** Whether it was used until a moment ago, and went down by a fault. A node that is not believed is not tried. */
  get hasFailedLately(): boolean {
    if (this.#wentDownAtMs === null || this.state !== 'down') return false
    if (this.#cordonedAtMs !== null || this.link.isResting) return false
    return this.#ports.clock.now() - this.#wentDownAtMs < LAST_RESORT_MS
  }

  /** The time of the last probe that was believed; 0 before the first. */
  get probedAtMs(): number {
    return this.#probedAtMs
  }

  slot(commitment: Commitment): number | null {
    return this.#slots[COMMITMENTS.indexOf(commitment)]!
  }

  /** Reserves ids for requests, and returns the first. */
  takeIds(count: number): number {
    const first = this.#id
    this.#id = (this.#id + count) % 1_000_000_000
    return first
  }

  /** Posts a body as `NodeLink` does, and counts it in the budget. */
  async post(body: string, cost: number, signal: AbortSignal, isRead = false): Promise<ResponseStart> {
    const { clock } = this.#ports
    // While the node rests, nothing is sent.
    if (this.link.isResting) return this.link.post(body, signal)
    this.budget.spend(cost, clock.now())
    try {
      return await this.link.post(body, signal, isRead)
    } catch (error) {
      if (error instanceof NodeError && error.fault.kind === 'throttled') this.budget.refused(clock.now())
      throw error
    }
  }

  /** Tells whether the node can have reached a slot since its own last claim. */
  canHaveReached(slot: number): boolean {
    const known = this.slot('processed')
    const elapsedMs = Math.max(0, this.#ports.clock.now() - this.#probedAtMs)
    return known !== null && slot <= known + REACH_SLOTS + elapsedMs / SLOT_MS_MIN
  }

  /**
   * Notes the slot of an answer. An answer older than the node's own claim corrects the claim: several nodes share the
   * address, or the claim was false.
   */
  sawSlot(commitment: Commitment, slot: number): void {
    if (!this.canHaveReached(slot)) return
    const at = COMMITMENTS.indexOf(commitment)
    const known = this.#slots[at] ?? 0
    if (slot > known) this.#around.reached(commitment, slot)
    this.#slots[at] = slot
    if (slot >= known) return
    this.falseSlots++
    this.#around.changed()
  }

  /** Notes how long a request took. */
  tookMs(ms: number): void {
    this.#latencyMs =
      this.#latencyMs === null ? ms : this.#latencyMs + (ms - this.#latencyMs) * LATENCY_WEIGHT
  }

  /** Notes a fault of a request. Several in a row take the node down. */
  failed(error: NodeError): void {
    const { kind } = error.fault
    if (kind === 'throttled' || kind === 'busy' || kind === 'too-large') return
    if (refusesRequest(error.fault)) return
    this.#health.note({ type: 'failed', reason: error.message })
    this.#around.changed()
  }

  /** Probes the node until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#health.run(signal)
    await this.link.close()
  }

  /** Requests the node's slots, and judges its health by the answer. Never rejects; concurrent calls share one probe. */
  async probe(signal: AbortSignal): Promise<void> {
    await this.#health.probe(signal)
  }

  #stateChanged(state: UpstreamState, before: UpstreamState): void {
    if (state === 'probing') {
      this.takesBatches = true
      this.#slots = [null, null, null]
    } else if (state !== 'down') this.#wentDownAtMs = null
    else if (before !== 'probing') this.#wentDownAtMs = this.#ports.clock.now()
    this.#around.changed()
  }

  /** Returns the probe interval that the load wants and the budget allows, in milliseconds. */
  #intervalMs(): number {
    const { probeMs, idleProbeMs } = this.#tuning
    const budgetMs = (probeCost(this.costs) / (this.budget.rate * PROBES_SHARE)) * 1_000
    return Math.max(this.#around.isBusy() ? probeMs : idleProbeMs, budgetMs)
  }

  /** Notes the slots of a probe, which may be older than those before: another node may have taken over the address. */
  #note(slots: readonly number[]): void {
    const [processed = 0] = slots
    const nowMs = this.#ports.clock.now()
    if (!this.#around.isBorneOut(processed)) {
      this.falseSlots++
      this.#slots = [null, null, null]
      this.#health.note({
        type: 'disbelieved',
        reason: `it claims slot ${processed}, which neither a majority of the nodes nor an indexed block confirms`
      })
      this.#wentDownAtMs = null
      return
    }
    this.#probedAtMs = nowMs
    this.#slots = [...slots]
    for (const [at, commitment] of COMMITMENTS.entries()) this.#around.reached(commitment, slots[at]!)
    const newest = this.isArchive ? processed : Math.max(processed, this.#around.newest())
    this.#health.note({ type: 'answered', slot: processed, newest })
  }

  async #readSlots(signal: AbortSignal): Promise<readonly number[]> {
    const startedMs = this.#ports.clock.now()
    this.budget.measure(startedMs)
    const slots = await readSlots(this, signal)
    this.tookMs(this.#ports.clock.now() - startedMs)
    return slots
  }
}
