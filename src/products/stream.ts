import { channels } from '../../actors/stream/channels.ts'
import { tenants } from '../../actors/stream/tenants.ts'
import { child } from '../../actors/supervision/unit.ts'
import { replaySecondsOf } from '../config/retention.ts'
import { STREAM_SETTINGS } from '../config/settings/stream.ts'
import { socketRoutes } from '../http/routes/sockets.ts'
import { CHAIN_CHANNEL_FORMS } from '../stream/channel.ts'
import { coordinationOf, type Given, type Product } from './product.ts'

/** The stream's channels of chain events: live events and their past, for connections and webhooks. */
export const CHANNELS: Product = {
  name: 'channels',
  roles: ['gateway', 'delivery'],
  settings: STREAM_SETTINGS,
  units: ({ config, ports, feed, cash, turns, budget }) => {
    const deps = { feed, cash, turns, clock: ports.clock, horizonSeconds: replaySecondsOf(config) }
    return [child('channels', channels({ ...deps, replayBytes: budget.replays }))]
  },
  channels: CHAIN_CHANNEL_FORMS
}

/** The stream: live events and replays over a WebSocket. */
export const STREAM: Product = {
  name: 'stream',
  roles: ['gateway'],
  settings: {},
  units: (service) => [
    child(
      'tenants',
      tenants<Given>(
        {
          ...service.ports,
          tenantEvents: service.tenantEvents,
          sockets: service.sockets,
          workTally: service.metrics.work
        },
        (given) => coordinationOf(service, given)
      )
    )
  ],
  routes: [socketRoutes]
}
