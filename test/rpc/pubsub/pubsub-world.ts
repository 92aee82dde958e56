import { Registry } from 'prom-client'
import type { Test } from 'tap'
import { ClientQueues } from '../../../actors/rpc/pubsub/client-queue.ts'
import { ClientSocket } from '../../../actors/rpc/pubsub/client-socket.ts'
import { GapReader } from '../../../actors/rpc/pubsub/gap-reader.ts'
import { PubsubLinks } from '../../../actors/rpc/pubsub/pubsub-links.ts'
import { SubscriptionHub } from '../../../actors/rpc/pubsub/subscription-hub.ts'
import { Caller } from '../../../src/access/caller.ts'
import { RateWindow } from '../../../src/access/rate-window.ts'
import { pubsubMetrics } from '../../../src/rpc/pubsub-metrics.ts'
import type { RpcUpstream, RpcUpstreams, UpstreamAnswer, UpstreamCall } from '../../../src/rpc/upstreams.ts'
import { FakePipe } from '../../stream/fake-pipe.ts'
import { KEY } from '../../stream/stream-world.ts'
import { virtualClock, type VirtualClock } from '../../virtual-time.ts'
import { FakeNode } from './fake-node.ts'
import { until } from '../../until.ts'
import { TURNS_AT_ONCE, type TakeTurns } from '../../../src/kernel/work/turns.ts'

/** An address; the tests need no other. */
export const ADDRESS = 'So11111111111111111111111111111111111111112'

/** A message to a client. */
export interface Received {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Readonly<Record<string, unknown>>
  }
  readonly method?: string
  readonly params?: {
    readonly subscription: number
    readonly result: {
      readonly context?: { readonly slot: number }
      readonly slot?: number
      readonly value: unknown
    }
  }
}

/** The nodes as the HTTP half knows them. */
export class FakeUpstreams {
  readonly nodes: { name: string; index: number; state: RpcUpstream['state']; slot: number }[] = []
  readonly calls: UpstreamCall[] = []
  readonly cordoned = new Set<number>()
  /** The raw result of a read; null where no node answers. */
  read: (call: UpstreamCall) => string | null = () => null
  readonly #listeners = new Set<() => void>()

  inOrder(): RpcUpstream[] {
    return this.nodes
      .filter(({ index }) => !this.cordoned.has(index))
      .toSorted((a, b) => Number(b.state === 'healthy') - Number(a.state === 'healthy'))
      .map((node) => ({ ...node, isArchive: false, latencyMs: 1, slot: () => node.slot }))
  }

  newest(): number {
    return Math.max(...this.nodes.map(({ slot }) => slot))
  }

  sawSlot(_name: string, _commitment: string, slot: number): void {
    for (const node of this.nodes) node.slot = Math.max(node.slot, slot)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  isCordoned(index: number): boolean {
    return this.cordoned.has(index)
  }

  /** Takes a node out of use, or into use again. */
  cordon(index: number, isCordoned = true): void {
    if (isCordoned) this.cordoned.add(index)
    else this.cordoned.delete(index)
    for (const listener of this.#listeners) listener()
  }

  turn(index: number, state: RpcUpstream['state']): void {
    this.nodes[index]!.state = state
    for (const listener of this.#listeners) listener()
  }

  requestAll: RpcUpstreams['requestAll'] = async (calls) => {
    this.calls.push(...calls)
    return calls.map((call): UpstreamAnswer => {
      const result = this.read(call)
      const facts = { rest: null, slot: null, node: 'fake' }
      if (result === null)
        return { ...facts, kind: 'error', bytes: Buffer.from('{"code":-32005}'), code: -32005 }
      return { ...facts, kind: 'result', bytes: Buffer.from(result), code: null }
    })
  }
}

/** One client's socket. */
export class FakeClient {
  readonly socket: ClientSocket
  readonly pipe = new FakePipe()
  pauses = 0
  #id = 0

  constructor(world: PubsubWorld, caller = new Caller(KEY, 600_000)) {
    this.socket = new ClientSocket(
      this.pipe,
      caller,
      (isPaused) => (this.pauses += Number(isPaused)),
      world.deps
    )
  }

  get received(): readonly Received[] {
    return this.pipe.messages as unknown as Received[]
  }

  /** Notifications, oldest first. */
  get notified(): readonly Received[] {
    return this.received.filter(({ method }) => method !== undefined)
  }

  get slots(): readonly number[] {
    return this.notified.map(({ params }) => (params!.result.context?.slot ?? params!.result.slot)!)
  }

  send(text: string): void {
    this.socket.receive(Buffer.from(text))
  }

  /** Sends a request and returns its answer. */
  async ask(method: string, params: unknown): Promise<Received> {
    const id = ++this.#id
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return until(() => this.received.find((each) => each.id === id))
  }
}

/** Everything between some nodes and some clients, in virtual time. */
export class PubsubWorld {
  readonly clock: VirtualClock = virtualClock()
  readonly upstreams = new FakeUpstreams()
  readonly faults: unknown[] = []
  readonly warnings: string[] = []
  readonly metrics = { pubsub: pubsubMetrics(new Registry()) }
  readonly floors: [string, string, number][] = []
  readonly limits = new RateWindow(10)
  /** To be replaced by a test of turns. */
  turns: TakeTurns = TURNS_AT_ONCE
  readonly hub: SubscriptionHub
  readonly deps: ConstructorParameters<typeof ClientSocket>[3]
  nodes: FakeNode[] = []

  constructor(t: Test) {
    const { clock, upstreams, metrics } = this
    const end = new AbortController()
    const logger = { info: () => undefined, warn: (_about: object, text: string) => this.warnings.push(text) }
    const gaps = new GapReader(upstreams, clock, end.signal, (fault) => this.faults.push(fault))
    this.hub = new SubscriptionHub(
      clock,
      metrics.pubsub,
      (changed) =>
        new PubsubLinks(
          {
            clock,
            random: () => 1,
            upstreams,
            urls: () => this.nodes.map(({ url }) => url),
            logger,
            stray: () => metrics.pubsub.strays.inc(),
            lost: () => metrics.pubsub.losses.inc()
          },
          changed
        ),
      gaps
    )
    this.deps = {
      hub: this.hub,
      gateway: {
        answer: async (request) => {
          const facts = { cache: null, ageMs: null, slot: null }
          const calls =
            request.kind === 'batch' ? request.elements : request.kind === 'single' ? [request.element] : []
          const texts = calls.flatMap(({ id }) =>
            id === null ? [] : [`{"jsonrpc":"2.0","result":"forwarded","id":${id}}`]
          )
          const text = request.kind === 'batch' ? `[${texts.join()}]` : texts[0]
          return { status: 200, body: text === undefined ? null : Buffer.from(text), facts }
        }
      },
      limits: this.limits,
      turns: { run: (tenant, work) => this.turns.run(tenant, work) },
      floors: { saw: (...seen) => this.floors.push(seen) },
      clock,
      report: (fault) => this.faults.push(fault),
      queues: new ClientQueues(),
      countClose: (code) => metrics.pubsub.closed.inc({ code })
    }
    t.teardown(() => {
      end.abort()
      this.hub.close()
      for (const node of this.nodes) node.close()
    })
  }

  async addNode(slot = 1_000): Promise<FakeNode> {
    const node = await FakeNode.start((this.nodes.length + 1) * 100)
    this.nodes.push(node)
    this.upstreams.nodes.push({
      name: new URL(node.url).host,
      index: this.nodes.length - 1,
      state: 'healthy',
      slot
    })
    return node
  }

  client(caller?: Caller): FakeClient {
    return new FakeClient(this, caller)
  }

  /** The value of a counter of notifications. */
  async counted(what: string): Promise<number> {
    const { values } = await this.metrics.pubsub.notifications.get()
    return values.find(({ labels }) => labels.what === what)?.value ?? 0
  }
}

/** Lets data in transit over real sockets arrive. */
export async function arrive(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20))
}
