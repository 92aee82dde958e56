import { nodeAddresses } from '../../src/node/node-address.ts'
import { sleep, type Ports } from '../../src/ports.ts'
import { borneOutSlot } from '../../src/rpc/borne-out-slot.ts'
import { COMMITMENTS, type Commitment } from '../../src/rpc/commitment.ts'
import { MethodCosts } from '../../src/rpc/method-costs.ts'
import { cordonOf, type Cordon } from '../../src/rpc/cordons.ts'
import type { NodeControl, NodeStatus } from '../../src/rpc/node-control.ts'
import { nodeIds } from '../../src/rpc/node-ids.ts'
import { orderNodes } from '../../src/rpc/node-order.ts'
import { ReachedSlots } from '../../src/rpc/reached-slots.ts'
import { NODE_LINK_TUNING } from './node-link.ts'
import { UpstreamNode, type UpstreamNodeTuning } from './upstream-node.ts'

export interface RpcNodesTuning extends UpstreamNodeTuning {
  /** Milliseconds for which a slot that no node has reached yet is waited for. */
  readonly behindMs: number
  /** A read is sent to a second node after this time, or after a multiple of the first one's latency. */
  readonly hedgeMs: number
  /** Milliseconds for which a slot counts as reached after the last node that stood there fell behind it. */
  readonly reachedForMs: number
  /** Milliseconds until a request without an answer is abandoned, over all nodes. */
  readonly deadlineMs: number
}

/**
 * The source's nodes are judged by the same values (`actors/ingest/upstreams.ts`). 2 s are five slots. After 5 s a slot is
 * not honest: nodes differ by a slot or two, so an honest one is reached again within a second.
 */
export const RPC_NODES_TUNING: RpcNodesTuning = {
  link: NODE_LINK_TUNING,
  probeMs: 400,
  idleProbeMs: 2_000,
  probeTimeoutMs: 5_000,
  lagSlots: 30,
  failuresMax: 3,
  recheckMs: 60_000,
  backoff: { floorMs: 500, ceilingMs: 10_000 },
  behindMs: 2_000,
  hedgeMs: 100,
  reachedForMs: 5_000,
  deadlineMs: 10_000,
  costs: new MethodCosts()
}

export interface RpcNodesOptions {
  /** Polled: the localnet's URL is known only once it listens. */
  readonly urls: () => readonly string[]
  readonly archiveUrls: readonly string[]
  /** Budget of each node, then of each archive, in costs a second, in the order of the URLs; null if unlimited. */
  readonly limits?: readonly (number | null)[]
  /** Polled for the operators' cordons; absent if there can be no cordons. */
  readonly cordons?: () => Promise<readonly Cordon[]>
  /** The genesis of the store's cluster; null while unknown. */
  readonly expectedGenesis: () => Promise<string | null>
  /** Slot of the newest block in the store; null on an empty store, or if its blocks come from elsewhere. */
  readonly indexedSlot: () => number | null
  readonly tuning?: Partial<RpcNodesTuning>
}

/** Milliseconds without a request after which nodes are probed rarely. */
const BUSY_MS = 5_000
/** Poll interval of the URLs, in milliseconds. */
const URLS_POLL_INTERVAL_MS = 500
/** Polls of the URLs for each poll of the cordons: these are read from the store once a second. */
const POLLS_PER_CORDONS = 2

/** The nodes and archives behind the RPC URL: probed all the time, and ordered for each request. */
export class NodePool implements NodeControl {
  readonly tuning: RpcNodesTuning
  readonly #options: RpcNodesOptions
  readonly #ports: Ports
  readonly #listeners = new Set<() => void>()
  #nodes: readonly UpstreamNode[] = []
  #urls: readonly string[] = []
  #running: AbortController | null = null
  readonly #reached: ReachedSlots
  #requestedAtMs = -Infinity
  /** Genesis of the first admitted node, used if the store knows none. */
  #genesis: string | null = null
  #cordons: readonly Cordon[] = []

  constructor(options: RpcNodesOptions, ports: Ports) {
    this.#options = options
    this.tuning = { ...RPC_NODES_TUNING, ...options.tuning }
    this.#reached = new ReachedSlots(this.tuning.reachedForMs)
    this.#ports = ports
  }

  get nodes(): readonly UpstreamNode[] {
    return this.#nodes
  }

  /** Probes the nodes until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let hasCordons = false
    for (let polls = 0; !signal.aborted; polls++) {
      // While the store fails, the cordons that were read last hold; before the first, no node is used.
      if (polls % POLLS_PER_CORDONS === 0 || !hasCordons) {
        const hasRead = await this.followCordons().then(
          () => true,
          () => false
        )
        hasCordons ||= hasRead
      }
      if (hasCordons && !signal.aborted) this.#follow()
      await sleep(this.#ports.clock, URLS_POLL_INTERVAL_MS, signal)
    }
    this.#running?.abort()
  }

  inOrder(commitment: Commitment, minSlot: number): readonly UpstreamNode[] {
    return orderNodes(
      this.#nodes.filter(({ isUsable }) => isUsable),
      commitment,
      minSlot
    )
  }

  newest(commitment: Commitment): number | null {
    let newest: number | null = null
    for (const node of this.#nodes) {
      if (node.isArchive || !node.isUsable) continue
      const slot = node.slot(commitment)
      if (slot !== null && (newest === null || slot > newest)) newest = slot
    }
    return newest
  }

  /** The newest slot that counts as reached (`ReachedSlots`). */
  reached(commitment: Commitment): number {
    return this.#reached.newest(commitment, this.#ports.clock.now())
  }

  /** Records a slot that an answer or a notification has stated: it counts as reached until it has fallen. */
  stated(commitment: Commitment, slot: number): void {
    this.#reached.reached(commitment, slot)
  }

  /** The nodes that went down a moment ago, in the operator's order. */
  failedLately(): readonly UpstreamNode[] {
    return this.#nodes.filter((node) => node.hasFailedLately)
  }

  async followCordons(): Promise<void> {
    if (this.#options.cordons === undefined) return
    this.#cordons = await this.#options.cordons()
    for (const node of this.#nodes) this.#cordon(node)
  }

  #cordon(node: UpstreamNode): void {
    node.cordon(cordonOf(this.#cordons, node.id)?.cordonedAtMs ?? null)
  }

  statuses(): NodeStatus[] {
    const nowMs = this.#ports.clock.now()
    const newest = this.newest('processed')
    return this.#nodes.map((node) => {
      const slot = node.slot('processed')
      return {
        id: node.id,
        isArchive: node.isArchive,
        state: node.state,
        isUsable: node.isUsable,
        reason: node.facts.reason,
        cordonedAtMs: node.cordonedAtMs,
        slot,
        slotsBehind: slot === null || newest === null ? null : Math.max(0, newest - slot),
        latencyMs: node.latencyMs,
        falseSlots: node.falseSlots,
        inFlight: node.link.inFlight,
        budget: node.budget.state(nowMs),
        recent: node.statistics.recent(nowMs),
        totals: node.statistics.totals()
      }
    })
  }

  /** Whether no node has been probed yet. */
  get isStarting(): boolean {
    return this.#nodes.every(({ state, facts }) => state === 'probing' && facts.attempt === 0)
  }

  sawSlot(name: string, commitment: Commitment, slot: number): void {
    this.#nodes.find((node) => node.name === name)?.sawSlot(commitment, slot)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Records that a client sends requests, so that slots stay fresh. */
  noteRequest(): void {
    this.#requestedAtMs = this.#ports.clock.now()
  }

  /** Opens connections to the nodes of the present URLs, in place of those before. */
  #follow(): void {
    const urls = this.#options.urls()
    const isSame = urls.length === this.#urls.length && urls.every((url, at) => url === this.#urls[at])
    if (isSame && this.#running !== null) return
    this.#running?.abort()
    this.#running = new AbortController()
    this.#urls = urls
    this.#genesis = null
    const liveCount = new Set(urls).size
    const all = [...urls, ...this.#options.archiveUrls]
    const ids = nodeIds(all)
    const limits = [...new Set(all)].map((url) => this.#options.limits?.[all.indexOf(url)] ?? null)
    this.#nodes = nodeAddresses(all).map((address, at) => {
      const isArchive = at >= liveCount
      const node: UpstreamNode = new UpstreamNode(
        address,
        { index: isArchive ? at - liveCount : at, isArchive, id: ids[at]!, limit: limits[at]! },
        this.tuning,
        {
          newest: () => this.#newestBeside(node),
          isBusy: () => this.#ports.clock.now() - this.#requestedAtMs < BUSY_MS,
          admit: (genesis) => this.#admit(genesis),
          isBorneOut: (slot) => this.#isBorneOut(node, slot),
          reached: (commitment, slot) => {
            if (!node.isArchive && node.cordonedAtMs === null) this.#reached.reached(commitment, slot)
          },
          changed: () => this.#changed()
        },
        this.#ports
      )
      this.#cordon(node)
      return node
    })
    const { signal } = this.#running
    for (const node of this.#nodes) void node.run(signal)
  }

  #changed(): void {
    const nowMs = this.#ports.clock.now()
    for (const commitment of COMMITMENTS) this.#reached.standAt(commitment, this.newest(commitment), nowMs)
    for (const listener of this.#listeners) listener()
  }

  /**
   * Tells whether the nodes, or the blocks in the store, bear out a slot that a node claims. A node may lead them by the
   * slots by which another may lag.
   */
  #isBorneOut(node: UpstreamNode, slot: number): boolean {
    const voters = this.#nodes.filter((each) => each !== node && !each.isArchive && each.isUsable)
    const slots = voters.flatMap((each) => each.slot('processed') ?? [])
    // An archive has no vote: it may be a service without a current state.
    if (slots.length === 0) return true
    if (!node.isArchive) slots.push(slot)
    return slot <= borneOutSlot(slots, this.#options.indexedSlot()) + this.tuning.lagSlots
  }

  #newestBeside(node: UpstreamNode): number {
    const others = this.#nodes.filter((each) => each !== node && !each.isArchive && each.isUsable)
    return Math.max(0, ...others.map((each) => each.slot('processed') ?? 0))
  }

  async #admit(genesis: string): Promise<string | null> {
    const expected = (await this.#options.expectedGenesis()) ?? (this.#genesis ??= genesis)
    return genesis === expected
      ? null
      : `it is of another cluster: its genesis is ${genesis}, not ${expected}`
  }
}
