import { z } from 'zod'
import { LEDGER_ENTRY_EVENT } from '../revenue/bodies/ledger-entry.ts'
import * as schema from '../kernel/http/schema.ts'
import { SUBMISSION_CHANGE } from '../transactions/bodies/submission-change.ts'
import { WEBHOOK_CHANGE } from '../webhooks/bodies/webhook-change.ts'
import {
  CURVE_EVENT,
  LAUNCH_EVENT,
  LIQUIDITY_EVENT,
  POOL_EVENT,
  PRICE_TICK,
  RETRACTION,
  TRADE_EVENT
} from './bodies/stream-schema.ts'
import { AWAITED_SLOTS } from './future-cursor.ts'
import { MESSAGE_KIB_MAX } from './message-bound.ts'

/**
 * Schemas of the stream's messages in both directions. Builders and the client derive their types from them, and the
 * AsyncAPI document is generated from them. Only clients' messages are validated at run time; tests validate the
 * others.
 */

const names = z.array(z.string()).min(1).describe('Channels')
const channels = (meaning: string) => z.array(z.string()).describe(meaning)
const cursor = (meaning: string) => schema.count(meaning)

export const SUBSCRIBE = z
  .object({
    subscribe: names,
    // A malformed cursor gets its own error.
    since: z
      .unknown()
      .optional()
      .meta({
        type: ['integer', 'string', 'null'],
        description:
          'Cursor of the last processed event, an integer or its decimal text: the events after it are sent'
      }),
    // A malformed list gets its own error.
    fields: z
      .unknown()
      .optional()
      .meta({
        type: ['array', 'null'],
        items: { type: 'string' },
        description:
          'Names of fields: `data` of the events of these channels has only these, in this order. Also changes channels that the connection has already. Null: all fields. Retractions are whole'
      })
  })
  .meta({ id: 'Subscribe' })
export const UNSUBSCRIBE = z.object({ unsubscribe: names }).meta({ id: 'Unsubscribe' })
export const PING = z.object({ ping: z.literal(true).describe('Requests a `pong`') }).meta({ id: 'Ping' })

/** A client's message; unknown members are ignored. */
export const CLIENT_MESSAGE = z.union([SUBSCRIBE, UNSUBSCRIBE, PING])

const PLACE = z.object({
  cursor: cursor('The last cursor before it'),
  ts_ms: schema.unixMs('Time of its first block', 'block'),
  slot: schema.count('Slot of that block')
})

export const HELLO = z
  .object({
    type: z.literal('hello').describe('Sent after connecting'),
    tenant: schema.text('The tenant of the key'),
    channels: channels('Channels of the connection: none yet').max(0),
    cursor: cursor('The newest published block'),
    horizon: PLACE.nullable().describe(
      'The replay horizon: the oldest `since`; null while there is no block'
    ),
    limits: z
      .object({
        channels: schema.count('Channels of a connection'),
        buffer: schema.count('Events that may wait for the client before the oldest are dropped')
      })
      .describe('Limits of the connection'),
    server_time_ms: schema.unixMs('Time of this message', 'service'),
    protocol: z.literal(1).describe('Version of these messages')
  })
  .meta({ id: 'Hello' })

export const SUBSCRIBED = z
  .object({
    type: z.literal('subscribed').describe('Answers `subscribe`'),
    channels: channels('All channels that the connection has now'),
    added: channels('New ones among them'),
    since: cursor('`since` of the request').optional(),
    fields: z.array(z.string()).optional().describe('`fields` of the request'),
    replaying: z.boolean().describe('Whether past events come first, followed by `replay_complete`'),
    cursor: cursor('The newest published block: without `since`, events after it are sent')
  })
  .meta({ id: 'Subscribed' })

export const UNSUBSCRIBED = z
  .object({
    type: z.literal('unsubscribed').describe('Answers `unsubscribe`'),
    channels: channels('Removed channels, without those that the connection did not have')
  })
  .meta({ id: 'Unsubscribed' })

export const PONG_MESSAGE = z
  .object({ type: z.literal('pong').describe('Answers `ping`') })
  .meta({ id: 'Pong' })

export const REPLAY_COMPLETE = z
  .object({
    type: z
      .literal('replay_complete')
      .describe('All past events of a `subscribe` were sent; the channels are live'),
    cursor: cursor('All events of the channels up to here were sent'),
    channels: channels('Channels that are live now')
  })
  .meta({ id: 'ReplayComplete' })

const warning = <Code extends string>(code: Code, meaning: string) =>
  z.object({
    type: z.literal('warning').describe('The request cannot be met in full'),
    code: z.literal(code).describe(meaning),
    message: schema.text('The warning in words')
  })

export const BEYOND_REPLAY_HORIZON = warning(
  'beyond_replay_horizon',
  '`since` is older than the replay horizon: the replay begins at the horizon. Sent before its first event'
)
  .extend({
    channels: channels('Channels with missing events'),
    since: cursor('Cursor after which they are missing'),
    horizon: cursor('Start of the replay: events after it are sent')
  })
  .meta({ id: 'BeyondReplayHorizon' })

export const CURSOR_AHEAD_OF_HEAD = warning(
  'cursor_ahead_of_head',
  `\`since\` is newer than any event. The subscription waits for it if it is at most ${AWAITED_SLOTS} slots ahead; otherwise it is live at once`
)
  .extend({
    channels: channels('The channels subscribed with `since`'),
    since: cursor('`since` of the request'),
    cursor: cursor('The newest published block'),
    after: cursor('Events after this cursor are sent: `since`, or `cursor` if the channels are live at once')
  })
  .meta({ id: 'CursorAheadOfHead' })

export const REPLAY_NOT_SUPPORTED = warning('replay_not_supported', 'A channel is live only')
  .extend({ channels: channels('Channels without a replay') })
  .meta({ id: 'ReplayNotSupported' })

export const EVENTS_DROPPED = warning(
  'events_dropped',
  'Events were dropped because the client did not read them in time. Sent in their place'
)
  .extend({
    dropped: schema.count('Number of dropped events'),
    from_cursor: cursor('Subscribe `since` this cursor to get them'),
    to_cursor: cursor('Cursor of the last dropped event'),
    channels: channels('Channels of the dropped events')
  })
  .meta({ id: 'EventsDropped' })

export const SERVER_DRAINING = warning(
  'server_draining',
  'The service is stopping; the connection is closed next'
)
  .extend({
    retry_after_ms: schema.count('Milliseconds to wait before a reconnect `since` the last cursor')
  })
  .meta({ id: 'ServerDraining' })

/** Errors of a client's message; the connection stays open, except after `message_too_large`. */
export const ERROR_MEANINGS = {
  invalid_json: 'A message is not JSON, or is not a known message',
  unknown_channel: 'There is no such channel; the other channels of the message were subscribed',
  invalid_address:
    'The text after the colon is not an address; the other channels of the message were subscribed',
  insufficient_scope:
    'The key lacks the scope of the named channels, or has lost it: they were not subscribed, or were removed',
  channel_limit: 'A connection has at most 50 channels; the named ones were not subscribed',
  invalid_fields:
    '`fields` is not a list of names of fields that events of the channels have; nothing was subscribed',
  invalid_cursor: '`since` is not a cursor; nothing was subscribed',
  message_too_large: `A message has more than ${MESSAGE_KIB_MAX} KiB; the connection is closed with 1009`,
  rate_limited:
    'The quota of the key is used up (each channel costs one call), or messages come too fast; the named channels were not subscribed',
  internal: 'The service failed; retry'
} as const

export type ErrorName = keyof typeof ERROR_MEANINGS

export const ERROR = z
  .object({
    type: z.literal('error').describe('A request of the client failed, in whole or in part'),
    code: z
      .enum(Object.keys(ERROR_MEANINGS) as [ErrorName, ...ErrorName[]])
      .describe('Kind of error; codes may be added'),
    message: schema.text('The warning in words'),
    channels: channels('Channels that it is about').optional()
  })
  .meta({ id: 'Error' })

const ADDRESS = '[1-9A-HJ-NP-Za-km-z]{32,44}'

const event = <Data extends z.ZodType>(channel: string, data: Data) =>
  z.object({
    type: z.literal('event').describe('An event'),
    channel: z
      .string()
      .regex(new RegExp(`^${channel}$`))
      .describe('The channel that publishes it'),
    data,
    cursor: cursor(
      'Its place in the order of all events; with it as `since`, the stream resumes after this event'
    ),
    replay: z.literal(true).optional().describe('On events of a replay alone')
  })

const ANY_EVENT = z.union([TRADE_EVENT, LIQUIDITY_EVENT, LAUNCH_EVENT, CURVE_EVENT, POOL_EVENT, RETRACTION])

/** Event messages by kind of channel. */
export const EVENT_MESSAGES = {
  trades: event(`trades:${ADDRESS}`, z.union([TRADE_EVENT, RETRACTION])).meta({ id: 'TradesMessage' }),
  price: event(`price:${ADDRESS}`, z.union([PRICE_TICK, RETRACTION])).meta({ id: 'PriceMessage' }),
  pool: event(
    `pool:${ADDRESS}`,
    z.union([TRADE_EVENT, LIQUIDITY_EVENT, CURVE_EVENT, POOL_EVENT, RETRACTION])
  ).meta({ id: 'PoolMessage' }),
  wallet: event(`wallet:${ADDRESS}`, z.union([TRADE_EVENT, RETRACTION])).meta({ id: 'WalletMessage' }),
  venue: event('venue:[a-z0-9-]+', ANY_EVENT).meta({ id: 'VenueMessage' }),
  launches: event('launches', z.union([LAUNCH_EVENT, RETRACTION])).meta({ id: 'LaunchesMessage' }),
  pools: event('pools', z.union([POOL_EVENT, RETRACTION])).meta({ id: 'PoolsMessage' }),
  curves: event('curves', z.union([CURVE_EVENT, RETRACTION])).meta({ id: 'CurvesMessage' }),
  webhooks: event('webhooks', WEBHOOK_CHANGE).omit({ replay: true }).meta({ id: 'WebhooksMessage' }),
  tx: event('tx', SUBMISSION_CHANGE).meta({ id: 'TransactionsMessage' }),
  revenue: event('revenue', LEDGER_ENTRY_EVENT).omit({ replay: true }).meta({ id: 'RevenueMessage' })
} as const

export const WARNINGS = [
  BEYOND_REPLAY_HORIZON,
  CURSOR_AHEAD_OF_HEAD,
  REPLAY_NOT_SUPPORTED,
  EVENTS_DROPPED,
  SERVER_DRAINING
] as const

/** All server messages other than events. */
export const SERVER_MESSAGE = z.union([
  HELLO,
  SUBSCRIBED,
  UNSUBSCRIBED,
  PONG_MESSAGE,
  REPLAY_COMPLETE,
  ...WARNINGS,
  ERROR
])

export type ServerMessage = z.input<typeof SERVER_MESSAGE>
