import { createActor, type ActorRefFrom } from 'xstate'
import { backoffMs, jittered } from '../../machines/backoff.ts'
import { sourceMachine, type SourceContext, type SourceState } from '../../machines/source.machine.ts'
import type { UpstreamState } from '../../machines/upstream.machine.ts'
import type { BlockCommitment } from '../../src/node/chain-node.ts'
import { nodeAddresses } from '../../src/node/node-address.ts'
import type { RpcClientOptions } from '../../src/node/rpc-client.ts'
import type { Ports } from '../../src/ports.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import { Upstream } from './upstream.ts'

export interface UpstreamsOptions {
  /** URLs of nodes, the preferred one first. */
  readonly urls: readonly string[]
  /** URLs of nodes that keep all blocks; they are asked for what the others do not have. */
  readonly archiveUrls: readonly string[]
  readonly commitment: BlockCommitment
  /** Whether this is the genesis of the cluster that we are on; else why it is not. */
  readonly admit: (genesis: string) => Promise<string | null>
  readonly tuning: UpstreamsTuning
}

export interface UpstreamsTuning {
  /** Of each node. */
  readonly client: Partial<RpcClientOptions>
  /** Between two looks at the head of a node. */
  readonly probeMs: number
  readonly archiveProbeMs: number
  readonly probeTimeoutMs: number
  /** A node so far behind the newest slot is asked after the others. */
  readonly lagSlots: number
  /** Probes in a row that fail, after which a node is down. */
  readonly failuresMax: number
  /** Without a newer slot for so long, the source is stalled. */
  readonly stallMs: number
  /** After which a node that refused us is asked once more. */
  readonly recheckMs: number
  readonly backoff: { readonly floorMs: number; readonly ceilingMs: number }
}

/** Chosen. A slot takes 400 ms, so that each is seen; 30 slots are 12 s, which no healthy node is behind. */
export const UPSTREAMS_TUNING: UpstreamsTuning = {
  client: {},
  probeMs: 400,
  archiveProbeMs: 10_000,
  probeTimeoutMs: 5_000,
  lagSlots: 30,
  failuresMax: 3,
  stallMs: 15_000,
  recheckMs: 60_000,
  backoff: { floorMs: 500, ceilingMs: 30_000 }
}

const SOURCE_STATES: readonly SourceState[] = ['connecting', 'advancing', 'stalled', 'waiting', 'refused']
const NODE_STATES: readonly UpstreamState[] = ['probing', 'healthy', 'lagging', 'down', 'refused']

/** All upstream nodes, and what they say together: how new the newest slot is, and whether it moves. */
export class Upstreams {
  readonly nodes: readonly Upstream[]
  readonly #live: readonly Upstream[]
  readonly #machine: ActorRefFrom<typeof sourceMachine>
  readonly #logger: Logger
  readonly #lagSlots: number
  readonly #listeners = new Set<() => void>()
  readonly #told = new Map<Upstream, UpstreamState>()
  #newest = 0
  /** The newest slot that is stored. */
  #stored = 0
  #doubt: string | null = null
  #hasConnected = false

  constructor(options: UpstreamsOptions, ports: Ports, logger: Logger) {
    const { tuning, commitment, admit } = options
    this.#logger = logger
    this.#lagSlots = tuning.lagSlots
    const around = { newest: () => this.#newest, admit, probed: (node: Upstream) => this.#probed(node) }
    const liveCount = new Set(options.urls).size
    const addresses = nodeAddresses([...options.urls, ...options.archiveUrls])
    this.nodes = addresses.map((address, at) => {
      const isArchive = at >= liveCount
      const probeMs = isArchive ? tuning.archiveProbeMs : tuning.probeMs
      return new Upstream(address, isArchive, { ...tuning, commitment, probeMs }, around, ports)
    })
    this.#live = this.nodes.filter(({ isArchive }) => !isArchive)
    const actions = { connect: () => this.#connect() }
    const delays = {
      backoff: ({ context }: { context: SourceContext }) =>
        jittered(backoffMs(context.policy.backoff, context.attempt), ports.random())
    }
    this.#machine = createActor(sourceMachine.provide({ actions, delays }), {
      clock: ports.clock,
      input: tuning
    })
  }

  /** Looks at the nodes until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let told: SourceState | undefined
    this.#machine.subscribe(({ value, context: { slot, reason } }) => {
      // It connects between two waits; only another state is news.
      if (value === told || value === 'connecting') return
      told = value
      if (value === 'advancing') this.#logger.info({ slot }, 'the source advances')
      if (value === 'stalled') this.#logger.warn({ slot }, `the source is stalled: ${reason}`)
      if (value === 'waiting') this.#logger.warn({ slot }, `the source has no node: ${reason}`)
      if (value === 'refused') this.#logger.error({ slot }, `the source is refused: ${reason}`)
    })
    this.#machine.start()
    const stop = (): void => void this.#machine.stop()
    signal.addEventListener('abort', stop)
    await Promise.all(this.nodes.map((node) => node.run(signal)))
    signal.removeEventListener('abort', stop)
    stop()
  }

  /** Calls back whenever a node tells of a slot above all before, until the returned function is called. */
  onNewer(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes note of a slot that is known from elsewhere, so that a node far behind it is seen to lag. */
  reached(slot: number): void {
    this.#newest = Math.max(this.#newest, slot)
    this.#stored = Math.max(this.#stored, slot)
    this.#machine.send({ type: 'reached', slot })
  }

  /** Takes note of why the nodes' chain is not gone on with; null while it is. */
  doubt(reason: string | null): void {
    if (reason !== null && reason !== this.#doubt) this.#logger.error(`nothing is taken in: ${reason}`)
    this.#doubt = reason
  }

  get status(): SourceStatus {
    const { value, context } = this.#machine.getSnapshot()
    const behind = this.#behind()
    const isFar = behind !== null && (value !== 'advancing' || behind.slots > this.#lagSlots)
    const fork = this.#doubt ?? (isFar ? behind.reason : null)
    return {
      state: value === 'advancing' && (fork ?? behind) !== null ? 'stalled' : value,
      reason: fork ?? behind?.reason ?? context.reason,
      fork,
      headSlot: context.slot,
      nodes: this.nodes.map(({ name, isArchive, state, facts: { slot, lag, reason } }) => ({
        name,
        archive: isArchive,
        state,
        slot,
        lag,
        reason
      }))
    }
  }

  /**
   * How far all nodes stand below what is stored, and what that means; null while one of them does not. A few slots are a
   * node that took over from a faster one. More of them, or nodes that do not move, may have been put back.
   */
  #behind(): { readonly slots: number; readonly reason: string } | null {
    const heads = this.#live.flatMap(({ headSlot }) => headSlot ?? [])
    const newest = Math.max(...heads)
    if (heads.length === 0 || newest >= this.#stored) return null
    const reason = `the newest slot of the nodes is ${newest}, below slot ${this.#stored}, which is stored: they are behind, or were put back to an older state; it is waited until they have passed it`
    return { slots: this.#stored - newest, reason }
  }

  /** Names what the live tree shows of them. */
  nameGauges(gauge: (name: string, read: () => number) => void): void {
    const sum = (of: (node: Upstream) => number): number =>
      this.nodes.reduce((total, node) => total + of(node), 0)
    gauge('head_slot', () => this.status.headSlot ?? 0)
    gauge('backwards', () => sum(({ facts }) => facts.backwards))
    gauge('requests_sent', () => sum(({ requests }) => requests.sent))
    gauge('requests_waiting', () => sum(({ requests }) => requests.waiting))
    for (const state of SOURCE_STATES) gauge(`is_${state}`, () => Number(this.status.state === state))
    for (const state of NODE_STATES)
      gauge(`nodes_${state}`, () => sum((node) => Number(node.state === state)))
    for (const node of this.nodes) {
      gauge(`slot ${node.name}`, () => node.facts.slot ?? 0)
      gauge(`lag ${node.name}`, () => node.facts.lag)
      gauge(`up ${node.name}`, () => Number(node.rank !== null))
    }
  }

  #connect(): void {
    // The first time, nodes connect by themselves.
    if (this.#hasConnected) for (const node of this.#live) node.reconnect()
    this.#hasConnected = true
  }

  #probed(node: Upstream): void {
    this.#tellOf(node)
    if (node.isArchive) return
    const { headSlot } = node
    if (headSlot !== null) {
      this.#machine.send({ type: 'slot', slot: headSlot })
      if (headSlot <= this.#newest) return
      this.#newest = headSlot
      for (const listener of this.#listeners) listener()
      return
    }
    if (this.#live.some(({ rank, state }) => rank !== null || state === 'probing')) return
    const reason = node.facts.reason ?? 'no node is up'
    const isRefused = this.#live.every(({ state }) => state === 'refused')
    this.#machine.send({ type: isRefused ? 'refused' : 'lost', reason })
  }

  /** One line at each change of a node's state, and none while it stays; of a single one the source's line says it. */
  #tellOf(node: Upstream): void {
    const { name, state, facts } = node
    if (state === this.#told.get(node) || state === 'probing') return
    this.#told.set(node, state)
    if (this.nodes.length === 1 && (state === 'down' || state === 'refused')) return
    const about = { node: name, slot: facts.slot ?? undefined }
    if (state === 'healthy') this.#logger.info(about, `node ${name} is healthy`)
    else if (state === 'lagging') this.#logger.warn(about, `node ${name} is ${facts.lag} slots behind`)
    else if (state === 'refused') this.#logger.error(about, `node ${name} is not used: ${facts.reason}`)
    else this.#logger.warn(about, `node ${name} is down: ${facts.reason}`)
  }
}
