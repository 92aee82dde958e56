import { nodeAddresses } from '../../src/node/node-address.ts'
import { sleep, type Ports } from '../../src/ports.ts'
import type { Commitment } from '../../src/rpc/commitment.ts'
import { orderNodes } from '../../src/rpc/node-order.ts'
import { NODE_LINK_TUNING } from './node-link.ts'
import { UpstreamNode, type UpstreamNodeTuning } from './upstream-node.ts'

export interface RpcNodesTuning extends UpstreamNodeTuning {
  /** Milliseconds for which a slot that no node has reached yet is waited for. */
  readonly behindMs: number
  /** A read is sent to a second node after this time, or after a multiple of the first one's latency. */
  readonly hedgeMs: number
}

/** Chosen: as the source's nodes are judged (`actors/chain/upstreams.ts`), and 2 s are five slots. */
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
  hedgeMs: 100
}

export interface RpcNodesOptions {
  /** Read again and again: the localnet's URL is known only once it listens. */
  readonly urls: () => readonly string[]
  readonly archiveUrls: readonly string[]
  /** The genesis of the store's cluster; null while none is known. */
  readonly expectedGenesis: () => Promise<string | null>
  readonly tuning?: Partial<RpcNodesTuning>
}

/** Milliseconds without a request after which nodes are probed rarely. */
const BUSY_MS = 5_000
/** Slots by which a node may exceed the others at once. */
const JUMP_SLOTS = 512
const URLS_MS = 500

/** The nodes and archives behind the RPC URL: probed all the time, and ordered for each request. */
export class NodePool {
  readonly tuning: RpcNodesTuning
  readonly #options: RpcNodesOptions
  readonly #ports: Ports
  readonly #listeners = new Set<() => void>()
  #nodes: readonly UpstreamNode[] = []
  #urls: readonly string[] = []
  #running: AbortController | null = null
  #requestedAtMs = -Infinity
  /** The genesis of the node that was admitted first, where the store knows none. */
  #genesis: string | null = null

  constructor(options: RpcNodesOptions, ports: Ports) {
    this.#options = options
    this.tuning = { ...RPC_NODES_TUNING, ...options.tuning }
    this.#ports = ports
  }

  get nodes(): readonly UpstreamNode[] {
    return this.#nodes
  }

  /** Probes the nodes until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#follow()
      await sleep(this.#ports.clock, URLS_MS, signal)
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
    this.#nodes = nodeAddresses([...urls, ...this.#options.archiveUrls]).map((address, at) => {
      const isArchive = at >= liveCount
      const node: UpstreamNode = new UpstreamNode(
        address,
        { index: isArchive ? at - liveCount : at, isArchive },
        this.tuning,
        {
          newest: () => this.#newestBeside(node),
          isBusy: () => this.#ports.clock.now() - this.#requestedAtMs < BUSY_MS,
          admit: (genesis) => this.#admit(genesis),
          isPlausible: (slot) => {
            const newest = this.#newestBeside(node)
            return newest === 0 || slot <= newest + JUMP_SLOTS
          },
          changed: () => this.#listeners.forEach((listener) => listener())
        },
        this.#ports
      )
      return node
    })
    const { signal } = this.#running
    for (const node of this.#nodes) void node.run(signal)
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
