import { z } from 'zod'
import * as schema from '../api/schema.ts'
import {
  CURVE_EVENT,
  LAUNCH_EVENT,
  LIQUIDITY_EVENT,
  POOL_EVENT,
  PRICE_TICK,
  RETRACTION,
  TRADE_EVENT
} from '../api/stream-schema.ts'

/**
 * Schemas of the stream's messages in both directions. Builders and the client get their types from them, and the
 * AsyncAPI document is generated from them. Only messages of clients are validated at run time; tests validate the
 * others.
 */

const names = z.array(z.string()).min(1).describe('Channels')
const channels = (meaning: string) => z.array(z.string()).describe(meaning)
const cursor = (meaning: string) => schema.count(meaning)

export const SUBSCRIBE = z
  .object({
    subscribe: names,
    // A malformed cursor has an error of its own.
    since: z
      .unknown()
      .optional()
      .meta({
        type: ['integer', 'string', 'null'],
        description:
          'The last cursor that was processed, an integer or its decimal text: what came after it is sent'
      })
  })
  .meta({ id: 'Subscribe' })
export const UNSUBSCRIBE = z.object({ unsubscribe: names }).meta({ id: 'Unsubscribe' })
export const PING = z.object({ ping: z.literal(true).describe('Asks for a `pong`') }).meta({ id: 'Ping' })

/** A client's message; unknown members are ignored. */
export const CLIENT_MESSAGE = z.union([SUBSCRIBE, UNSUBSCRIBE, PING])

const PLACE = z.object({
  cursor: cursor('The last cursor before it'),
  ts_ms: schema.unixMs('When its first block was made', 'block'),
  slot: schema.count('Slot of that block')
})

export const HELLO = z
  .object({
    type: z.literal('hello').describe('Sent after connecting'),
    tenant: schema.text('The tenant of the key'),
    channels: channels('Channels of the connection: none yet').max(0),
    cursor: cursor('The newest block that was told'),
    horizon: PLACE.nullable().describe('How far back `since` reaches; null while there is no block'),
    limits: z
      .object({
        channels: schema.count('Channels of a connection'),
        buffer: schema.count('Events that a connection may be owed before the oldest are dropped')
      })
      .describe('Limits of the connection'),
    server_time_ms: schema.unixMs('When this was sent', 'service'),
    protocol: z.literal(1).describe('Version of these messages')
  })
  .meta({ id: 'Hello' })

export const SUBSCRIBED = z
  .object({
    type: z.literal('subscribed').describe('Answers `subscribe`'),
    channels: channels('All channels that the connection has now'),
    added: channels('Those that it did not have before'),
    since: cursor('As it was sent').optional(),
    replaying: z.boolean().describe('Whether past events come first, and then `replay_complete`'),
    cursor: cursor('The newest block that was told: without `since`, events after it are sent')
  })
  .meta({ id: 'Subscribed' })

export const UNSUBSCRIBED = z
  .object({
    type: z.literal('unsubscribed').describe('Answers `unsubscribe`'),
    channels: channels('Those that are gone; what the connection did not have is not among them')
  })
  .meta({ id: 'Unsubscribed' })

export const PONG_MESSAGE = z
  .object({ type: z.literal('pong').describe('Answers `ping`') })
  .meta({ id: 'Pong' })

export const REPLAY_COMPLETE = z
  .object({
    type: z
      .literal('replay_complete')
      .describe('All past events of a `subscribe` are sent; the stream is live'),
    cursor: cursor('All that the channels had up to here is sent'),
    channels: channels('The channels that are live now')
  })
  .meta({ id: 'ReplayComplete' })

const warning = <Code extends string>(code: Code, meaning: string) =>
  z.object({
    type: z.literal('warning').describe('Not all that was asked for is sent'),
    code: z.literal(code).describe(meaning),
    message: schema.text('The same in words')
  })

export const BEYOND_REPLAY_HORIZON = warning(
  'beyond_replay_horizon',
  '`since` is older than what can be replayed: the replay begins at the horizon. Sent before its first event'
)
  .extend({
    channels: channels('Whose events are missing'),
    since: cursor('Where they are missing from'),
    horizon: cursor('Where the replay begins: events after it are sent')
  })
  .meta({ id: 'BeyondReplayHorizon' })

export const CURSOR_AHEAD_OF_HEAD = warning('cursor_ahead_of_head', '`since` is newer than any event')
  .extend({
    channels: channels('The channels that wait'),
    since: cursor('What they wait for'),
    cursor: cursor('The newest block that was told')
  })
  .meta({ id: 'CursorAheadOfHead' })

export const REPLAY_NOT_SUPPORTED = warning('replay_not_supported', 'A channel is live only')
  .extend({ channels: channels('Those that have no replay') })
  .meta({ id: 'ReplayNotSupported' })

export const EVENTS_DROPPED = warning(
  'events_dropped',
  'Events were dropped, since they were not read in time. Sent in their place'
)
  .extend({
    dropped: schema.count('How many'),
    from_cursor: cursor('Subscribe `since` this to have them'),
    to_cursor: cursor('The last of them'),
    channels: channels('Whose events they were')
  })
  .meta({ id: 'EventsDropped' })

export const SERVER_DRAINING = warning(
  'server_draining',
  'The service is stopping; the connection is closed next'
)
  .extend({
    retry_after_ms: schema.count('Connect again after so many milliseconds, `since` the last cursor')
  })
  .meta({ id: 'ServerDraining' })

/** Errors of a client's message; the connection stays open. */
export const ERROR_MEANINGS = {
  invalid_json: 'A message is no JSON text, or of no shape that is known',
  unknown_channel: 'There is no such channel; the others of the message are subscribed',
  invalid_address: 'What follows the colon is no address; the others of the message are subscribed',
  channel_limit: 'A connection has 50 channels at most; those that are named were not subscribed',
  invalid_cursor: '`since` is no cursor; nothing was subscribed',
  message_too_large: 'A message has 16 KiB at most',
  rate_limited:
    'The quota of the key is used up (each channel costs one call), or messages come too fast; the channels that are named were not subscribed',
  internal: 'The service failed; try again'
} as const

export type ErrorName = keyof typeof ERROR_MEANINGS

export const ERROR = z
  .object({
    type: z.literal('error').describe('Something of what the client sent was not done'),
    code: z
      .enum(Object.keys(ERROR_MEANINGS) as [ErrorName, ...ErrorName[]])
      .describe('What is wrong; further codes may come'),
    message: schema.text('The same in words'),
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
      .describe('The channel that tells of it'),
    data,
    cursor: cursor('Its place in the order of all events; `since` this, the stream goes on after it'),
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
  venue: event('venue:[a-z0-9-]+', ANY_EVENT).meta({ id: 'VenueMessage' }),
  launches: event('launches', z.union([LAUNCH_EVENT, RETRACTION])).meta({ id: 'LaunchesMessage' }),
  pools: event('pools', z.union([POOL_EVENT, RETRACTION])).meta({ id: 'PoolsMessage' }),
  curves: event('curves', z.union([CURVE_EVENT, RETRACTION])).meta({ id: 'CurvesMessage' })
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
