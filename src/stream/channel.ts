import type { Scope } from '../access/scopes.ts'
import { pubkeyFromBase58, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'

/** Kinds of channels that are named by an address. */
type AddressedKind = 'trades' | 'price' | 'pool' | 'wallet'

/** A channel and the subject of its events (src/docs/stream.md). */
export type Channel =
  | { readonly kind: AddressedKind; readonly name: string; readonly of: Pubkey }
  | { readonly kind: 'venue'; readonly name: string; readonly venue: VenueId }
  | { readonly kind: 'launches' | 'pools' | 'curves'; readonly name: string }

/**
 * Channels about the connection's own tenant, with the scope that each needs: the scope of its product, as over REST.
 * Their events are not from the chain.
 */
export const PRIVATE_CHANNEL_SCOPES = {
  webhooks: 'webhooks',
  tx: 'tx:send',
  revenue: 'revenue'
} as const satisfies Readonly<Record<string, Scope>>
export type PrivateChannelName = keyof typeof PRIVATE_CHANNEL_SCOPES
export const PRIVATE_CHANNELS = Object.keys(PRIVATE_CHANNEL_SCOPES) as readonly PrivateChannelName[]

export interface PrivateChannel {
  readonly kind: 'private'
  readonly name: PrivateChannelName
}

/** The private channel of changes of submissions. Its events are stored. */
export interface ChangesChannel extends PrivateChannel {
  readonly name: 'tx'
}

/** A channel that a connection can subscribe to. */
export type StreamChannel = Channel | PrivateChannel

/** A channel whose past a connection can read. */
export type ReplayedChannel = Channel | ChangesChannel

/** Returns whether the store has a channel's events encoded (`market/log.ts`) instead of as rows. */
export const isStoredEncoded = (channel: ReplayedChannel): boolean =>
  !isPrivate(channel) && !('of' in channel)

/** The refusal of a channel name. */
export interface ChannelFault {
  readonly code: 'unknown_channel' | 'invalid_address'
  readonly message: string
}

/** Forms of the names of channels with events of the chain. */
export const CHAIN_CHANNEL_FORMS = [
  'trades:<mint>',
  'price:<mint>',
  'pool:<pool>',
  'wallet:<address>',
  'venue:<venue>',
  'launches',
  'pools',
  'curves'
] as const
/** Forms of channel names. */
export const CHANNEL_FORMS = [...CHAIN_CHANNEL_FORMS, ...PRIVATE_CHANNELS] as const
export type ChannelForm = (typeof CHANNEL_FORMS)[number]

const listed = (forms: readonly string[]): string => new Intl.ListFormat('en-GB').format(forms)
const CHAIN_FORMS_LISTED = listed(CHAIN_CHANNEL_FORMS)
const FORMS_LISTED = listed(CHANNEL_FORMS)
/** Maximum characters of a name in an error message; a client may send any name. */
const SHOWN_MAX = 80

/** Returns the channel with a name, private ones too, or the fault of the name. */
export function streamChannelOf(name: string): StreamChannel | ChannelFault {
  const own = PRIVATE_CHANNELS.find((each) => each === name)
  return own === undefined ? chainChannelOf(name, FORMS_LISTED) : { kind: 'private', name: own }
}

/**
 * Returns the channel of chain events with a name, or the fault of the name. Channels of the tenant are faults: they belong
 * to a connection, and webhooks have no such channels.
 */
export function channelOf(name: string): Channel | ChannelFault {
  const isOfTenant = PRIVATE_CHANNELS.some((each) => each === name)
  return isOfTenant
    ? {
        code: 'unknown_channel',
        message: `${shown(name)} is a channel of the stream only; there are ${CHAIN_FORMS_LISTED}`
      }
    : chainChannelOf(name, CHAIN_FORMS_LISTED)
}

function chainChannelOf(name: string, forms: string): Channel | ChannelFault {
  const colon = name.indexOf(':')
  const kind = colon < 0 ? name : name.slice(0, colon)
  const rest = colon < 0 ? null : name.slice(colon + 1)
  switch (kind) {
    case 'launches':
    case 'pools':
    case 'curves':
      return rest === null ? { kind, name } : unknown(name, forms)
    case 'trades':
    case 'price':
    case 'pool':
    case 'wallet':
      return rest === null ? unknown(name, forms) : addressed(kind, name, rest)
    case 'venue': {
      const venue = VENUE_IDS.find((id) => id === rest)
      if (venue !== undefined) return { kind, name, venue }
      const message = `${shown(name)} is not a channel; venues are ${VENUE_IDS.join(', ')}`
      return { code: 'unknown_channel', message }
    }
    default:
      return unknown(name, forms)
  }
}

/** Names that were refused for one reason. */
export interface RefusedNames extends ChannelFault {
  readonly names: string[]
}

/**
 * Returns the named channels without duplicates, and the refused names grouped by reason. The message describes the
 * first name of its reason. `find` returns the channel of a name.
 */
export function channelsOf<Found extends StreamChannel = Channel>(
  names: readonly string[],
  find: (name: string) => Found | ChannelFault
): { channels: Found[]; refused: RefusedNames[] } {
  const channels: Found[] = []
  const refused = new Map<ChannelFault['code'], RefusedNames>()
  for (const name of new Set(names)) {
    const found = find(name)
    if (!isFault(found)) channels.push(found)
    else if (refused.has(found.code)) refused.get(found.code)!.names.push(name)
    else refused.set(found.code, { ...found, names: [name] })
  }
  return { channels, refused: [...refused.values()] }
}

export const isFault = <Found extends StreamChannel>(found: Found | ChannelFault): found is ChannelFault =>
  'code' in found

export const isPrivate = (channel: StreamChannel): channel is PrivateChannel => channel.kind === 'private'

export const isOfChanges = (channel: StreamChannel): channel is ChangesChannel =>
  isPrivate(channel) && channel.name === 'tx'

/**
 * Returns the scope that a key needs for a channel, in addition to the scope `stream` of the connection; null for a
 * channel of the chain.
 */
export const scopeOfChannel = (channel: StreamChannel): Scope | null =>
  isPrivate(channel) ? PRIVATE_CHANNEL_SCOPES[channel.name] : null

/** Splits channels into those that a key with some scopes may have, and the names of the others by missing scope. */
export function permittedChannels(
  channels: readonly StreamChannel[],
  scopes: readonly string[]
): { readonly permitted: StreamChannel[]; readonly lacking: ReadonlyMap<Scope, string[]> } {
  const permitted: StreamChannel[] = []
  const lacking = new Map<Scope, string[]>()
  for (const channel of channels) {
    const scope = scopeOfChannel(channel)
    if (scope === null || scopes.includes(scope)) permitted.push(channel)
    else lacking.set(scope, [...(lacking.get(scope) ?? []), channel.name])
  }
  return { permitted, lacking }
}

/** Returns whether a connection can read a channel's past. */
export const isReplayed = (channel: StreamChannel): channel is ReplayedChannel =>
  isPrivate(channel) ? isOfChanges(channel) : channel.kind !== 'pools'

/** Returns the key of a channel within its kind; empty for a kind with one channel. */
export function channelKey(channel: Channel): string {
  switch (channel.kind) {
    case 'trades':
    case 'price':
    case 'pool':
    case 'wallet':
      return pubkeyMapKey(channel.of)
    case 'venue':
      return channel.venue
    default:
      return ''
  }
}

function addressed(kind: AddressedKind, name: string, address: string): Channel | ChannelFault {
  try {
    return { kind, name, of: pubkeyFromBase58(address) }
  } catch {
    const message = `${shown(name)} is not a channel: the text after the colon is not an address of 32 bytes in base58`
    return { code: 'invalid_address', message }
  }
}

function unknown(name: string, forms: string): ChannelFault {
  return { code: 'unknown_channel', message: `${shown(name)} is not a channel; there are ${forms}` }
}

function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}…` : name)
}
