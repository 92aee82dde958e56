import { createActor, type ActorRefFrom } from 'xstate'
import { backoffMs, jittered } from '../../machines/backoff.ts'
import { sourceMachine, type SourceContext, type SourceState } from '../../machines/source.machine.ts'
import type { UpstreamState } from '../../machines/upstream.machine.ts'
import type { BlockCommitment } from '../../src/node/chain-node.ts'
import { nodeAddresses } from '../../src/node/node-address.ts'
import type { RpcClientOptions } from '../../src/node/rpc-client.ts'
import type { Ports } from '../../src/ports.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { Upstream } from './upstream.ts'

export interface UpstreamsOptions {
  /** URLs of nodes, in order of preference. */
  readonly urls: readonly string[]
  /** URLs of nodes that keep all blocks, used for blocks that the others do not have. */
  readonly archiveUrls: readonly string[]
  readonly commitment: BlockCommitment
  /** Checks a genesis; returns null if the cluster is the expected one, else the reason for refusal. */
  readonly admit: (genesis: string) => Promise<string | null>
  readonly tuning: UpstreamsTuning
}

export interface UpstreamsTuning {
  /** Settings of each node's client. */
  readonly client: Partial<RpcClientOptions>
  /** Probe interval of a node, in milliseconds. */
  readonly probeMs: number
  readonly archiveProbeMs: number
  readonly probeTimeoutMs: number
  /** A node this many slots behind the newest one is used after the others. */
  readonly lagSlots: number
  /** Failed probes in a row after which a node is down. */
  readonly failuresMax: number
  /** Milliseconds without a newer slot after which the source is stalled. */
  readonly stallMs: number
  /** Milliseconds until a node that refused us is retried. */
  readonly recheckMs: number
  readonly backoff: { readonly floorMs: number; readonly ceilingMs: number }
}

/** A slot takes 400 ms, so each is seen; no healthy node is 30 slots (12 s) behind. */
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

/** All upstream nodes, and their joint state: the newest slot, and whether it advances. */
export class Upstreams {
  readonly nodes: readonly Upstream[]
  readonly #live: readonly Upstream[]
  readonly #machine: ActorRefFrom<typeof sourceMachine>
  readonly #logger: Logger
  readonly #lagSlots: number
  readonly #listeners = new Set<() => void>()
  readonly #logged = new Map<Upstream, UpstreamState>()
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

  /** Probes all nodes until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let logged: SourceState | undefined
    this.#machine.subscribe(({ value, context: { slot, reason } }) => {
      // The machine reconnects between two waits; only a change of the state is logged.
      if (value === logged || value === 'connecting') return
      logged = value
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

  /**
   * Calls `listener` whenever a node reports a slot above all earlier ones. Returns a function that unsubscribes it.
   */
  onNewer(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Records a slot known from elsewhere, so that a node far behind it counts as lagging. */
  reached(slot: number): void {
    this.#newest = Math.max(this.#newest, slot)
    this.#stored = Math.max(this.#stored, slot)
    this.#machine.send({ type: 'reached', slot })
  }

  /** Takes a head that the only node announces. */
  announced(slot: number): void {
    for (const node of this.#live) node.announced(slot)
  }

  /** Sets the reason why the nodes' chain is not ingested; null while it is. */
  doubt(reason: string | null): void {
    if (reason !== null && reason !== this.#doubt) this.#logger.error(`no block is ingested: ${reason}`)
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
   * Slots by which the newest node is below the stored head, with the meaning; null if a node is at or above it. A few
   * slots mean that a node took over from a faster one. More slots, or nodes that do not advance, may mean that nodes were
   * restored to an older state.
   */
  #behind(): { readonly slots: number; readonly reason: string } | null {
    const heads = this.#live.flatMap(({ headSlot }) => headSlot ?? [])
    const newest = Math.max(...heads)
    if (heads.length === 0 || newest >= this.#stored) return null
    const reason = `the newest slot of the nodes is ${newest}, below slot ${this.#stored}, which is stored: the nodes are behind, or were restored to an older state; ingest waits until they have passed that slot`
    return { slots: this.#stored - newest, reason }
  }

  /** Names the gauges of the nodes in the process tree. */
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
    // At the first connect, nodes connect by themselves.
    if (this.#hasConnected) for (const node of this.#live) node.reconnect()
    this.#hasConnected = true
  }

  #probed(node: Upstream): void {
    this.#logState(node)
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

  /** Logs each change of a node's state once. For a single node, the source's line covers it. */
  #logState(node: Upstream): void {
    const { name, state, facts } = node
    if (state === this.#logged.get(node) || state === 'probing') return
    this.#logged.set(node, state)
    if (this.nodes.length === 1 && (state === 'down' || state === 'refused')) return
    const about = { node: name, slot: facts.slot ?? undefined }
    if (state === 'healthy') this.#logger.info(about, `node ${name} is healthy`)
    else if (state === 'lagging') this.#logger.warn(about, `node ${name} is ${facts.lag} slots behind`)
    else if (state === 'refused') this.#logger.error(about, `node ${name} is not used: ${facts.reason}`)
    else this.#logger.warn(about, `node ${name} is down: ${facts.reason}`)
  }
}
