import { Registry } from 'prom-client'
import type { Test } from 'tap'
import { GapReader } from '../../../actors/rpc/pubsub/gap-reader.ts'
import { PubsubLinks } from '../../../actors/rpc/pubsub/pubsub-links.ts'
import { RpcSockets, sweepUntil } from '../../../actors/rpc/pubsub/rpc-sockets.ts'
import { SubscriptionHub } from '../../../actors/rpc/pubsub/subscription-hub.ts'
import { KeySockets } from '../../../src/access/key-sockets.ts'
import { RateWindow } from '../../../src/access/rate-window.ts'
import { httpBounds } from '../../../src/kernel/http/bounds.ts'
import { systemPorts } from '../../../src/ports.ts'
import type { ParsedRequest } from '../../../src/rpc/requests.ts'
import { SlotFloors } from '../../../src/rpc/slot-floors.ts'
import type { RpcUpstream, RpcUpstreams, UpstreamAnswer } from '../../../src/rpc/upstreams.ts'
import { pubsubMetrics, type PubsubMetrics } from '../../../src/rpc/pubsub-metrics.ts'
import { listeningApp, type ListeningApp } from '../../http/raw-client.ts'

/** A real node by its URLs, always taken for healthy. */
export interface RealNode {
  readonly url: string
  readonly wsUrl: string
}

/** Some nodes, queried without any failover. */
class PlainUpstreams {
  readonly #nodes: readonly RealNode[]
  #newest: number | null = null

  constructor(nodes: readonly RealNode[]) {
    this.#nodes = nodes
  }

  inOrder(): RpcUpstream[] {
    return this.#nodes.map(({ url }, index) => ({
      name: new URL(url).host,
      index,
      isArchive: false,
      state: 'healthy',
      latencyMs: null,
      slot: () => null
    }))
  }

  isCordoned(): boolean {
    return false
  }

  newest(): number | null {
    return this.#newest
  }

  sawSlot(_name: string, _commitment: string, slot: number): void {
    this.#newest = Math.max(this.#newest ?? 0, slot)
  }

  onChange(): () => void {
    return () => undefined
  }

  requestAll: RpcUpstreams['requestAll'] = async (calls) =>
    Promise.all(
      calls.map(async ({ method, params }): Promise<UpstreamAnswer> => {
        const answer = await post(
          this.#nodes.at(-1)!.url,
          `{"jsonrpc":"2.0","id":1,"method":"${method.name}","params":${params}}`
        )
        const { result } = JSON.parse(answer.toString()) as { result?: unknown }
        return {
          kind: result === undefined ? 'error' : 'result',
          bytes: Buffer.from(JSON.stringify(result) ?? '{}'),
          rest: null,
          code: null,
          slot: null,
          node: 'plain'
        }
      })
    )
}

/** The body of a single request. */
function bodyOf(request: ParsedRequest): string {
  if (request.kind !== 'single' || request.element.kind !== 'call')
    throw new TypeError('one request is asked at a time')
  const { id, method, params } = request.element
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params ?? '[]'}}`
}

async function post(url: string, body: string): Promise<Buffer> {
  const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  return Buffer.from(await answer.arrayBuffer())
}

export interface ServedSockets {
  readonly app: ListeningApp
  readonly sockets: RpcSockets
  readonly hub: SubscriptionHub
  readonly metrics: { readonly pubsub: PubsubMetrics }
  readonly warnings: readonly string[]
  readonly faults: readonly unknown[]
  /** Returns the URL for a key. */
  readonly urlFor: (key: string) => string
}

/** Serves RPC sockets of real nodes by the HTTP side of the service, in the process of the test. */
export async function serveSockets(t: Test, nodes: readonly RealNode[]): Promise<ServedSockets> {
  const { clock, random } = systemPorts
  const end = new AbortController()
  const metrics = { pubsub: pubsubMetrics(new Registry()) }
  const [warnings, faults]: [string[], unknown[]] = [[], []]
  const upstreams = new PlainUpstreams(nodes)
  const logger = { info: () => undefined, warn: (_about: object, text: string) => warnings.push(text) }
  const counts = { stray: () => metrics.pubsub.strays.inc(), lost: () => metrics.pubsub.losses.inc() }
  const urls = () => nodes.map(({ wsUrl }) => wsUrl)
  const report = (fault: unknown): void => void faults.push(fault)
  const gaps = new GapReader(upstreams, clock, end.signal, report)
  const hub = new SubscriptionHub(
    clock,
    metrics.pubsub,
    (changed) => new PubsubLinks({ clock, random, upstreams, urls, logger, ...counts }, changed),
    gaps
  )
  const facts = { cache: null, ageMs: null, slot: null }
  const sockets = new RpcSockets(
    {
      hub,
      gateway: {
        answer: async (request) => ({ status: 200, body: await post(nodes[0]!.url, bodyOf(request)), facts })
      },
      floors: new SlotFloors(),
      limits: new RateWindow(1_000),
      clock,
      report,
      countClose: (code) => metrics.pubsub.closed.inc({ code })
    },
    new KeySockets()
  )
  const app = await listeningApp(t, undefined, {
    bounds: { ...httpBounds(Infinity), lingerMs: 50 },
    rpcSockets: sockets
  })
  sockets.guard(app.keys)
  const sweeping = sweepUntil(sockets, end.signal)
  t.teardown(async () => {
    end.abort()
    await sweeping
    await sockets.drain(AbortSignal.abort())
    hub.close()
  })
  const urlFor = (key: string): string => `ws://127.0.0.1:${app.port}/v1/rpc/ws?api-key=${key}`
  return { app, sockets, hub, metrics, warnings, faults, urlFor }
}
