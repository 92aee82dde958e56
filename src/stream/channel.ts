import { pubkeyFromBase58, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'

/** A channel and the subject of its events (spec, Stream channels). */
export type Channel =
  | { readonly kind: 'trades' | 'price' | 'pool'; readonly name: string; readonly of: Pubkey }
  | { readonly kind: 'venue'; readonly name: string; readonly venue: VenueId }
  | { readonly kind: 'launches' | 'pools' | 'curves'; readonly name: string }

/** Tells whether the store has a channel's events encoded (`market/log.ts`) instead of as rows. */
export const isKeptAsSent = (channel: Channel): boolean => !('of' in channel)

/** The refusal of a channel name. */
export interface ChannelFault {
  readonly code: 'unknown_channel' | 'invalid_address'
  readonly message: string
}

/** Forms of channel names. */
export const CHANNEL_FORMS = [
  'trades:<mint>',
  'price:<mint>',
  'pool:<pool>',
  'venue:<venue>',
  'launches',
  'pools',
  'curves'
] as const
export type ChannelForm = (typeof CHANNEL_FORMS)[number]

const SAID_FORMS = new Intl.ListFormat('en-GB').format(CHANNEL_FORMS)
/** Characters of a name that a message repeats at most; a client may send any name. */
const SHOWN_MAX = 80

/** Returns the channel with a name, or the fault of the name. */
export function channelOf(name: string): Channel | ChannelFault {
  const colon = name.indexOf(':')
  const kind = colon < 0 ? name : name.slice(0, colon)
  const rest = colon < 0 ? null : name.slice(colon + 1)
  switch (kind) {
    case 'launches':
    case 'pools':
    case 'curves':
      return rest === null ? { kind, name } : unknown(name)
    case 'trades':
    case 'price':
    case 'pool':
      return rest === null ? unknown(name) : addressed(kind, name, rest)
    case 'venue': {
      const venue = VENUE_IDS.find((id) => id === rest)
      if (venue !== undefined) return { kind, name, venue }
      const message = `${shown(name)} is no channel; venues are ${VENUE_IDS.join(', ')}`
      return { code: 'unknown_channel', message }
    }
    default:
      return unknown(name)
  }
}

/** Names that were refused for one reason. */
export interface RefusedNames extends ChannelFault {
  readonly names: string[]
}

/**
 * Returns the named channels, each once, and the refused names by reason; the message describes the first name of its
 * reason.
 */
export function channelsOf(names: readonly string[]): { channels: Channel[]; refused: RefusedNames[] } {
  const channels: Channel[] = []
  const refused = new Map<ChannelFault['code'], RefusedNames>()
  for (const name of new Set(names)) {
    const found = channelOf(name)
    if (!isFault(found)) channels.push(found)
    else if (refused.has(found.code)) refused.get(found.code)!.names.push(name)
    else refused.set(found.code, { ...found, names: [name] })
  }
  return { channels, refused: [...refused.values()] }
}

export const isFault = (found: Channel | ChannelFault): found is ChannelFault => 'code' in found

/** Returns the key of a channel within its kind; empty for a kind with one channel. */
export function channelKey(channel: Channel): string {
  switch (channel.kind) {
    case 'trades':
    case 'price':
    case 'pool':
      return pubkeyMapKey(channel.of)
    case 'venue':
      return channel.venue
    default:
      return ''
  }
}

function addressed(kind: 'trades' | 'price' | 'pool', name: string, address: string): Channel | ChannelFault {
  try {
    return { kind, name, of: pubkeyFromBase58(address) }
  } catch {
    const message = `${shown(name)} is no channel: what follows the colon is not an address of 32 bytes in base58`
    return { code: 'invalid_address', message }
  }
}

function unknown(name: string): ChannelFault {
  return { code: 'unknown_channel', message: `${shown(name)} is no channel; there are ${SAID_FORMS}` }
}

function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}…` : name)
}
