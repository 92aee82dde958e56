/** The subscriptions of the RPC URL in their own process, in front of one node: for `rpc-pubsub.ts`. */
import { Registry } from 'prom-client'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { GapReader } from '../../actors/rpc/pubsub/gap-reader.ts'
import { PubsubLinks } from '../../actors/rpc/pubsub/pubsub-links.ts'
import { RpcSockets, sweepUntil } from '../../actors/rpc/pubsub/rpc-sockets.ts'
import { SubscriptionHub } from '../../actors/rpc/pubsub/subscription-hub.ts'
import { Caller } from '../../src/access/caller.ts'
import { KeySockets, SOCKETS_PER_KEY_MAX } from '../../src/access/key-sockets.ts'
import { RateWindow } from '../../src/access/rate-window.ts'
import { systemPorts } from '../../src/ports.ts'
import { SlotFloors } from '../../src/rpc/slot-floors.ts'
import type { RpcUpstream } from '../../src/rpc/upstreams.ts'
import { pubsubMetrics } from '../../src/rpc/pubsub-metrics.ts'

const [pubsubUrl = ''] = process.argv.slice(2)
const { clock, random } = systemPorts
const metrics = { pubsub: pubsubMetrics(new Registry()) }
const node: RpcUpstream = {
  name: 'node',
  index: 0,
  isArchive: false,
  state: 'healthy',
  latencyMs: null,
  slot: () => null
}
const upstreams = {
  isCordoned: () => false,
  inOrder: () => [node],
  newest: () => null,
  sawSlot: () => undefined,
  onChange: () => () => undefined,
  requestAll: () => Promise.reject(new Error('nothing is read here'))
}
const end = new AbortController()
const report = (fault: unknown): void => void process.stderr.write(`${String(fault)}\n`)
const hub = new SubscriptionHub(
  clock,
  metrics.pubsub,
  (changed) =>
    new PubsubLinks(
      {
        clock,
        random,
        upstreams,
        urls: () => [pubsubUrl],
        logger: { info: () => undefined, warn: (_about, text) => report(text) },
        stray: () => undefined,
        lost: () => undefined
      },
      changed
    ),
  new GapReader(upstreams, clock, end.signal, report)
)
const sockets = new RpcSockets(
  {
    hub,
    gateway: { answer: () => Promise.reject(new Error('only subscriptions are measured')) },
    floors: new SlotFloors(),
    limits: new RateWindow(100_000),
    clock,
    report,
    countClose: (code) => report(`closed ${code}`)
  },
  new KeySockets()
)
let opened = 0
const callerOf = (number: number): Caller =>
  new Caller(
    {
      id: `key ${number}`,
      hash: new Uint8Array(32),
      prefix: 'mr_live_k',
      tenant: 'acme',
      name: 'k',
      scopes: ['rpc:read'],
      createdAtMs: 0,
      ratePerMinute: null,
      expiresAtMs: null,
      revokedAtMs: null,
      allowedIps: [],
      corsOrigins: [],
      successor: null
    },
    1_000_000
  )
const server = createServer()
const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false })
server.on('upgrade', (request, socket, head) =>
  upgrades.handleUpgrade(request, socket, head, (ws) =>
    sockets.open(ws, request.socket, callerOf(Math.floor(opened++ / SOCKETS_PER_KEY_MAX)))
  )
)
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
await sweepUntil(sockets, end.signal)
