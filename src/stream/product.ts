import { channels, type Channels } from '../../actors/stream/channels.ts'
import { tenants, type Tenants } from '../../actors/stream/tenants.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import { child } from '../../actors/supervision/unit.ts'
import { replaySecondsOf } from '../kernel/config/retention.ts'
import { streamHealthRoutes } from './routes/stream-health.ts'
import type { StreamGateway } from './gateway.ts'
import { CHAIN_CHANNEL_FORMS } from './channel.ts'
import { KEY_SOCKETS } from '../access/product.ts'
import { CASH, START } from '../ingest/capabilities.ts'
import { STREAM_PATH } from '../kernel/http/handshake.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { CHAIN_CHANNELS, TENANT_EVENTS } from './capabilities.ts'
import {
  beside,
  capability,
  coordinationOf,
  resource,
  type Product,
  type Spine
} from '../kernel/compose/product.ts'
import { socketOwner } from '../kernel/compose/socket-owner.ts'

/** The connections of the stream. */
export const STREAM_TENANTS = resource<Tenants>('the connections of the stream')

/** The stream's channels of chain events: live events and their past, for connections and webhooks. */
export const CHANNELS: Product = {
  name: 'channels',
  roles: ['gateway', 'delivery'],
  listedAs: 'stream',
  units: ({ config, ports, feed, turns, budget, get }) => {
    const deps = { feed, cash: get(CASH), turns, clock: ports.clock, horizonSeconds: replaySecondsOf(config) }
    const run = channels({ ...deps, replayBytes: budget.replays })
    return [beside('channels', child('hub', giving(get(CHAIN_CHANNELS), run)))]
  },
  channels: CHAIN_CHANNEL_FORMS
}

/** The stream: live events and replays over a WebSocket. */
export const STREAM: Product = {
  name: 'stream',
  roles: ['gateway'],
  listedAs: 'stream',
  units: (kernel) => {
    const { ports, metrics, get } = kernel
    const run = tenants<Spine & { readonly channels: Channels }>(
      { ...ports, tenantEvents: get(TENANT_EVENTS), sockets: get(KEY_SOCKETS), workTally: metrics.work },
      (given) => coordinationOf(kernel, given)
    )
    const live = using({ channels: get(CHAIN_CHANNELS) }, ports.clock, run)
    return [beside('stream', child('tenants', giving(get(STREAM_TENANTS), live)))]
  },
  routes: ({ get }) => {
    const needs = { stream: get(STREAM_GATEWAY), ...get(START) }
    return (side) => routesWith({ ...side, ...needs }, [streamHealthRoutes])
  },
  socket: ({ get }) => ({
    path: STREAM_PATH,
    scope: 'stream',
    refusesWith403: true,
    gateway: get(STREAM_GATEWAY)
  })
}

/** The stream as the HTTP side uses it. */
export const STREAM_GATEWAY = capability(({ get }): StreamGateway => {
  const tenants = get(STREAM_TENANTS)
  return tenants.view(['health'], socketOwner(tenants, 'the stream restarts'))
})
