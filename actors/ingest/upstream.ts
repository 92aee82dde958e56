import type { UpstreamContext, UpstreamPolicy, UpstreamState } from '../../machines/upstream.machine.ts'
import type {
  AbsentBlock,
  BlockAnswer,
  BlockCommitment,
  BlockHeader,
  ChainNode
} from '../../src/node/chain-node.ts'
import type { NodeAddress } from '../../src/node/node-address.ts'
import { RpcClient, type RpcClientOptions } from '../../src/node/rpc-client.ts'
import { RpcNode } from '../../src/node/rpc-node.ts'
import type { Ports } from '../../src/ports.ts'
import { NodeHealth } from './node-health.ts'

export interface UpstreamOptions extends UpstreamPolicy {
  readonly commitment: BlockCommitment
  readonly client: Partial<RpcClientOptions>
  /** Probe interval of a node that is up, in milliseconds. */
  readonly probeMs: number
  readonly probeTimeoutMs: number
}

/** Callbacks of an upstream node into the set of all nodes. */
export interface UpstreamSurroundings {
  /** The newest slot known from any node or already yielded. */
  readonly newest: () => number
  /** Checks a genesis; returns null if the cluster is the expected one, else the reason for refusal. */
  readonly admit: (genesis: string) => Promise<string | null>
  /** Called after each probe. */
  readonly probed: (node: Upstream) => void
}

const LAGGING_RANK = 10
const RESTING_RANK = 20

/** One upstream node: probed continuously, and used to fetch blocks while it is up. */
export class Upstream implements ChainNode {
  readonly #node: RpcNode
  readonly #health: NodeHealth
  readonly #options: UpstreamOptions
  readonly #around: UpstreamSurroundings
  /** The greatest slot announced since the last probe began. */
  #announcedSlot = 0

  constructor(
    address: NodeAddress,
    isArchive: boolean,
    options: UpstreamOptions,
    around: UpstreamSurroundings,
    ports: Ports
  ) {
    this.#options = options
    this.#around = around
    const { client, commitment, probeMs } = options
    const { clock } = ports
    this.#node = new RpcNode(new RpcClient(address, clock, client), clock, { commitment, isArchive })
    const checks = {
      name: this.name,
      probeLimitMs: null,
      intervalMs: () => probeMs,
      admit: async (signal: AbortSignal) => around.admit(await this.genesis(signal)),
      readSlots: (signal: AbortSignal) => this.#readSlot(signal),
      probed: () => around.probed(this)
    }
    this.#health = new NodeHealth(options, checks, ports)
  }

  get isArchive(): boolean {
    return this.#node.isArchive
  }

  get name(): string {
    return this.#node.name
  }

  get state(): UpstreamState {
    return this.#health.state
  }

  /** Slot, lag, counters and the last fault. */
  get facts(): UpstreamContext {
    return this.#health.facts
  }

  get headSlot(): number | null {
    return this.#health.isUp ? this.facts.slot : null
  }

  get rank(): number | null {
    if (!this.#health.isUp) return null
    return (this.state === 'lagging' ? LAGGING_RANK : 0) + (this.#node.isResting ? RESTING_RANK : 0)
  }

  /** Requests sent since the start, and requests that wait. */
  get requests(): { readonly sent: number; readonly waiting: number } {
    const { sent, waiting } = this.#node.client
    return { sent, waiting }
  }

  /** Probes the node until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#health.run(signal)
    await this.#node.close()
  }

  /** Opens new connections, checks the cluster again, and probes a node that is down at once. */
  reconnect(): void {
    this.#node.client.renewConnections()
    this.#health.reconnect()
  }

  /** Takes a head that the node announces, as if a probe had read it; ignored unless the node is up. */
  announced(slot: number): void {
    if (!this.#health.isUp) return
    this.#announcedSlot = Math.max(this.#announcedSlot, slot)
    this.#answered(slot)
    this.#around.probed(this)
  }

  block(slot: number, signal: AbortSignal): Promise<BlockAnswer> {
    return this.#node.block(slot, signal)
  }

  header(slot: number, signal: AbortSignal): Promise<BlockHeader | AbsentBlock> {
    return this.#node.header(slot, signal)
  }

  genesis(signal: AbortSignal): Promise<string> {
    return this.#node.genesis(signal, this.#options.probeTimeoutMs)
  }

  slotsFrom(slot: number, limit: number, signal: AbortSignal): Promise<readonly number[]> {
    return this.#node.slotsFrom(slot, limit, signal)
  }

  async #readSlot(signal: AbortSignal): Promise<void> {
    this.#announcedSlot = 0
    const slot = await this.#node.slot(signal, this.#options.probeTimeoutMs)
    if (signal.aborted) return
    // Heads announced meanwhile are newer than the answer, which does not mean that the node lags.
    this.#answered(Math.max(slot, this.#announcedSlot))
  }

  #answered(slot: number): void {
    const newest = this.isArchive ? slot : Math.max(slot, this.#around.newest())
    this.#health.note({ type: 'answered', slot, newest })
  }
}
