import type { Channels } from '../../actors/stream/channels.ts'
import { capability, resource } from '../kernel/compose/product.ts'
import { TenantEvents } from './tenant-events.ts'

/** The channels of chain events. */
export const CHAIN_CHANNELS = resource<Channels>('the channels of the stream')

/** Events of one tenant, such as those of its transactions. */
export const TENANT_EVENTS = capability(() => new TenantEvents())
