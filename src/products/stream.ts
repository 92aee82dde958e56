import { channels } from '../../actors/stream/channels.ts'
import { tenants } from '../../actors/stream/tenants.ts'
import { child } from '../../actors/supervision/unit.ts'
import { replaySecondsOf } from '../config/retention.ts'
import { STREAM_SETTINGS } from '../config/settings/stream.ts'
import { streamRoutes } from '../http/routes/stream.ts'
import { CHANNEL_FORMS } from '../stream/channel.ts'
import { coordinationOf, type Given, type Product } from './product.ts'

/** The stream: live events and replays over a WebSocket. */
export const STREAM: Product = {
  name: 'stream',
  roles: ['gateway'],
  settings: STREAM_SETTINGS,
  units: (service) => {
    const { config, ports, feed, cash, budget } = service
    const told = { feed, cash, clock: ports.clock, horizonSeconds: replaySecondsOf(config) }
    return [
      child('channels', channels({ ...told, replayBytes: budget.replays })),
      child(
        'tenants',
        tenants<Given>(ports, (given) => coordinationOf(service, given).limits)
      )
    ]
  },
  routes: [streamRoutes],
  channels: CHANNEL_FORMS
}
