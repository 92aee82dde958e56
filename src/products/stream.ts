import { channels, type Channels } from '../../actors/stream/channels.ts'
import { tenants } from '../../actors/stream/tenants.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import { child } from '../../actors/supervision/unit.ts'
import { replaySecondsOf } from '../config/retention.ts'
import { STREAM_SETTINGS } from '../config/settings/stream.ts'
import { socketRoutes } from '../http/routes/sockets.ts'
import type { StreamGateway } from '../stream/gateway.ts'
import { CHAIN_CHANNEL_FORMS } from '../stream/channel.ts'
import { beside, coordinationOf, type Product, type ServiceParts, type Spine } from './product.ts'

/** The stream's channels of chain events: live events and their past, for connections and webhooks. */
export const CHANNELS: Product = {
  name: 'channels',
  roles: ['gateway', 'delivery'],
  settings: STREAM_SETTINGS,
  units: ({ config, ports, feed, cash, turns, budget, handles }) => {
    const deps = { feed, cash, turns, clock: ports.clock, horizonSeconds: replaySecondsOf(config) }
    const run = channels({ ...deps, replayBytes: budget.replays })
    return [beside('channels', child('hub', giving(handles.channels, run)))]
  },
  channels: CHAIN_CHANNEL_FORMS
}

/** The stream: live events and replays over a WebSocket. */
export const STREAM: Product = {
  name: 'stream',
  roles: ['gateway'],
  settings: {},
  units: (service) => {
    const { ports, tenantEvents, sockets, metrics, handles } = service
    const run = tenants<Spine & { readonly channels: Channels }>(
      { ...ports, tenantEvents, sockets, workTally: metrics.work },
      (given) => coordinationOf(service, given)
    )
    const live = using({ channels: handles.channels }, ports.clock, run)
    return [beside('stream', child('tenants', giving(handles.tenants, live)))]
  },
  routes: [socketRoutes]
}

/** The close code of a connection whose owner restarts (RFC 6455: service restart). */
const RESTARTS = 1012

/** Returns the stream as the HTTP side uses it. */
export function streamOf({ handles: { tenants } }: ServiceParts): StreamGateway {
  return {
    admits: (caller) => tenants.get().admits(caller),
    open: (ws, socket, caller) => {
      if (tenants.current === null) ws.close(RESTARTS, 'the stream restarts')
      else tenants.current.open(ws, socket, caller)
    },
    get health() {
      return tenants.get().health
    }
  }
}
