import { createActor, type ActorRefFrom } from 'xstate'
import { backoffMs, jittered } from '../../machines/backoff.ts'
import {
  upstreamMachine,
  type UpstreamContext,
  type UpstreamPolicy,
  type UpstreamState
} from '../../machines/upstream.machine.ts'
import type {
  AbsentBlock,
  BlockAnswer,
  BlockCommitment,
  BlockHeader,
  ChainNode
} from '../../src/node/chain-node.ts'
import type { NodeAddress } from '../../src/node/node-address.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { RpcClient, type RpcClientOptions } from '../../src/node/rpc-client.ts'
import { RpcNode } from '../../src/node/rpc-node.ts'
import type { Ports } from '../../src/ports.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'

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

/** Milliseconds for which a node that failed a request other than a probe comes last. */
const REST_MS = 5_000
const LAGGING_RANK = 10
const RESTING_RANK = 20

/** One upstream node: probed continuously, and used to fetch blocks while it is up. */
export class Upstream implements ChainNode {
  readonly isArchive: boolean
  readonly #rpc: RpcNode
  readonly #client: RpcClient
  readonly #options: UpstreamOptions
  readonly #around: UpstreamSurroundings
  readonly #ports: Ports
  readonly #machine: ActorRefFrom<typeof upstreamMachine>
  #isAdmitted = false
  #restUntilMs = 0
  /** The greatest slot announced since the last probe began. */
  #announcedSlot = 0

  constructor(
    address: NodeAddress,
    isArchive: boolean,
    options: UpstreamOptions,
    around: UpstreamSurroundings,
    ports: Ports
  ) {
    this.isArchive = isArchive
    this.#options = options
    this.#around = around
    this.#ports = ports
    this.#client = new RpcClient(address, ports.clock, options.client)
    this.#rpc = new RpcNode(this.#client, options.commitment, ports.clock)
    const backoff = ({ context }: { context: UpstreamContext }): number =>
      jittered(backoffMs(context.policy.backoff, context.attempt), ports.random())
    this.#machine = createActor(upstreamMachine.provide({ delays: { backoff } }), {
      clock: ports.clock,
      input: options
    })
  }

  get name(): string {
    return this.#client.name
  }

  get state(): UpstreamState {
    return this.#machine.getSnapshot().value
  }

  /** Slot, lag, counters and the last fault. */
  get facts(): UpstreamContext {
    return this.#machine.getSnapshot().context
  }

  get headSlot(): number | null {
    return this.rank === null ? null : this.facts.slot
  }

  get rank(): number | null {
    const { state } = this
    if (state !== 'healthy' && state !== 'lagging') return null
    const isResting = this.#ports.clock.now() < this.#restUntilMs
    return (state === 'lagging' ? LAGGING_RANK : 0) + (isResting ? RESTING_RANK : 0)
  }

  /** Requests sent since the start, and requests that wait. */
  get requests(): { readonly sent: number; readonly waiting: number } {
    return { sent: this.#client.sent, waiting: this.#client.waiting }
  }

  /** Probes the node until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { probeMs, recheckMs, backoff } = this.#options
    const awake = new AutoResetEvent()
    let last: UpstreamState = 'probing'
    this.#machine.subscribe(({ value }) => {
      // After an absence the address may lead to another node.
      if (value === 'probing' && last !== 'probing') {
        this.#isAdmitted = false
        awake.set()
      }
      last = value
    })
    this.#machine.start()
    while (!signal.aborted) {
      const { state } = this
      if (state !== 'down' && state !== 'refused') await this.#probe(signal)
      const idleMs = this.rank === null ? Math.max(recheckMs, backoff.ceilingMs) : probeMs
      if (this.state !== 'probing') await awake.wait(this.#ports.clock, idleMs, signal)
    }
    this.#machine.stop()
    await this.#client.close()
  }

  /** Opens new connections, checks the cluster again, and probes a node that is down at once. */
  reconnect(): void {
    this.#client.renewConnections()
    this.#isAdmitted = false
    this.#machine.send({ type: 'reconnect' })
  }

  /** Takes a head that the node announces, as if a probe had read it; ignored unless the node is up. */
  announced(slot: number): void {
    if (this.rank === null) return
    this.#announcedSlot = Math.max(this.#announcedSlot, slot)
    this.#answered(slot)
    this.#around.probed(this)
  }

  async block(slot: number, signal: AbortSignal): Promise<BlockAnswer> {
    const answer = await this.#rpc.block(slot, signal)
    if (answer.kind === 'absent' && (answer.why === 'fault' || answer.why === 'unavailable')) this.#rest()
    return answer
  }

  async header(slot: number, signal: AbortSignal): Promise<BlockHeader | AbsentBlock> {
    return this.#rpc.header(slot, signal)
  }

  async genesis(signal: AbortSignal): Promise<string> {
    return this.#rpc.genesisHash(signal, this.#options.probeTimeoutMs)
  }

  async slotsFrom(slot: number, limit: number, signal: AbortSignal): Promise<readonly number[]> {
    try {
      return await this.#rpc.slotsFrom(slot, limit, signal)
    } catch (error) {
      if (error instanceof NodeError) this.#rest()
      throw error
    }
  }

  #rest(): void {
    this.#restUntilMs = this.#ports.clock.now() + REST_MS
  }

  async #probe(signal: AbortSignal): Promise<void> {
    try {
      const refusal = this.#isAdmitted ? null : await this.#admit(signal)
      if (signal.aborted) return
      if (refusal !== null) this.#machine.send({ type: 'refused', reason: refusal })
      else {
        this.#announcedSlot = 0
        const slot = await this.#rpc.slot(signal, this.#options.probeTimeoutMs)
        if (signal.aborted) return
        // Heads announced meanwhile are newer than the answer, which does not mean that the node lags.
        this.#answered(Math.max(slot, this.#announcedSlot))
      }
    } catch (error) {
      if (signal.aborted) return
      const reason = error instanceof Error ? error.message : String(error)
      const isRefusal = error instanceof NodeError && error.fault.kind === 'unauthorized'
      this.#machine.send({ type: isRefusal ? 'refused' : 'failed', reason })
    }
    if (!signal.aborted) this.#around.probed(this)
  }

  #answered(slot: number): void {
    const newest = this.isArchive ? slot : Math.max(slot, this.#around.newest())
    this.#machine.send({ type: 'answered', slot, newest })
  }

  async #admit(signal: AbortSignal): Promise<string | null> {
    const genesis = await this.#rpc.genesisHash(signal, this.#options.probeTimeoutMs)
    const refusal = await this.#around.admit(genesis)
    this.#isAdmitted = refusal === null
    return refusal
  }
}
