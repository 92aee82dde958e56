import type { z } from 'zod'
import { PRIVATE_CHANNEL_SCOPES } from '../channel.ts'
import * as schemas from '../message-schemas.ts'
import * as built from '../messages.ts'
import * as example from './stream-examples.ts'

/** A message of the AsyncAPI document. */
export interface MessageEntry {
  readonly from: 'client' | 'server'
  readonly title: string
  readonly summary: string
  readonly schema: z.ZodType
  readonly examples: readonly object[]
}

const TRADES = `trades:${example.EXAMPLE_MINT}`
const CHANNELS = [TRADES, 'launches']
const SINCE = example.EXAMPLE_LAUNCH.cursor - 1
const HEAD = example.EXAMPLE_LIQUIDITY.cursor + 1
const PLACE = { cursor: 314_460_000_000_000 - 1, tsMs: 1_729_913_600_000, slot: 299_892_425 }

const carry = (channel: string, data: { readonly cursor: number }): object => ({
  type: 'event',
  channel,
  data,
  cursor: data.cursor
})

const client = (title: string, summary: string, schema: z.ZodType, ...examples: object[]): MessageEntry => ({
  from: 'client',
  title,
  summary,
  schema,
  examples
})
const server = (title: string, summary: string, schema: z.ZodType, ...examples: object[]): MessageEntry => ({
  from: 'server',
  title,
  summary,
  schema,
  examples
})

const events = schemas.EVENT_MESSAGES

/** Every message of the stream, by name. Examples are built by the code that sends the messages. */
export const STREAM_MESSAGES: Readonly<Record<string, MessageEntry>> = {
  subscribe: client(
    'Subscribe',
    'Adds channels. Live events follow. With `since`, the events after that cursor are replayed first, even for a channel that is already subscribed. Counts as one call of the quota',
    schemas.SUBSCRIBE,
    { subscribe: CHANNELS },
    { subscribe: CHANNELS, since: SINCE },
    { subscribe: ['launches'], since: String(SINCE) }
  ),
  unsubscribe: client('Unsubscribe', 'Removes channels', schemas.UNSUBSCRIBE, { unsubscribe: ['launches'] }),
  ping: client('Ping', 'Checks that the connection is alive', schemas.PING, { ping: true }),
  hello: server(
    'Hello',
    'The first message',
    schemas.HELLO,
    built.hello('acme', HEAD, PLACE, 1_730_000_000_500)
  ),
  subscribed: server(
    'Subscribed',
    'The answer to `subscribe`',
    schemas.SUBSCRIBED,
    built.subscribed(CHANNELS, CHANNELS, 'now', false, HEAD),
    built.subscribed(CHANNELS, [], SINCE, true, HEAD)
  ),
  unsubscribed: server(
    'Unsubscribed',
    'The answer to `unsubscribe`',
    schemas.UNSUBSCRIBED,
    built.unsubscribed(['launches'])
  ),
  pong: server('Pong', 'The answer to `ping`', schemas.PONG_MESSAGE, built.PONG),
  replayComplete: server(
    'Replay complete',
    'Marks the end of a replay; live events follow. Sent once for each `subscribe` with `since`',
    schemas.REPLAY_COMPLETE,
    built.replayComplete(HEAD, CHANNELS)
  ),
  beyondReplayHorizon: server(
    'Warning: beyond the replay horizon',
    '`since` is older than the replay horizon. The replay starts at the horizon; REST has the older rows',
    schemas.BEYOND_REPLAY_HORIZON,
    built.beyondHorizon(CHANNELS, 1, PLACE.cursor)
  ),
  cursorAheadOfHead: server(
    'Warning: cursor ahead of the head',
    '`since` is newer than the newest block. Events after the cursor `after` are sent when they exist',
    schemas.CURSOR_AHEAD_OF_HEAD,
    built.aheadOfHead(CHANNELS, HEAD + 2 ** 40, HEAD, HEAD)
  ),
  replayNotSupported: server(
    'Warning: replay not supported',
    'The channel is live only',
    schemas.REPLAY_NOT_SUPPORTED,
    built.replayNotSupported(['pools', 'webhooks'])
  ),
  eventsDropped: server(
    'Warning: events dropped',
    'More than 2,000 events waited for the client, so the oldest were dropped and are missing here',
    schemas.EVENTS_DROPPED,
    built.eventsDropped({ dropped: 12, from: SINCE, to: HEAD, channels: new Set(['launches']) })
  ),
  serverDraining: server(
    'Warning: the service is stopping',
    'The connection will be closed with 1001. Reconnect after `retry_after_ms`',
    schemas.SERVER_DRAINING,
    built.serverDraining(2_400)
  ),
  error: server(
    'Error',
    'A request of the client failed, in whole or in part; the connection stays open, except after `message_too_large`. `insufficient_scope` also comes when the key loses the scope of a subscribed channel',
    schemas.ERROR,
    built.errorMessage('unknown_channel', '"launch" is not a channel', ['launch']),
    built.errorMessage('invalid_json', 'this is no JSON'),
    built.scopeMissing(PRIVATE_CHANNEL_SCOPES.tx, ['tx'], 'lacks')
  ),
  trades: server(
    'Event of trades:<mint>',
    'Every trade of a token on all venues, with executed amounts and direction',
    events.trades,
    { ...carry(TRADES, example.EXAMPLE_TRADE), replay: true },
    carry(TRADES, {
      event: 'retract',
      of: example.EXAMPLE_TRADE.cursor,
      signature: example.EXAMPLE_TRADE.signature,
      slot: example.EXAMPLE_TRADE.slot,
      ts_ms: example.EXAMPLE_TRADE.ts_ms,
      cursor: HEAD
    } as { readonly cursor: number })
  ),
  price: server(
    'Event of price:<mint>',
    'One tick for each price-forming trade',
    events.price,
    carry(`price:${example.EXAMPLE_MINT}`, example.EXAMPLE_TICK)
  ),
  pool: server(
    'Event of pool:<pool>',
    'Every event on a pool: trades, liquidity, the pool and its curve',
    events.pool,
    carry(`pool:${example.EXAMPLE_POOL}`, example.EXAMPLE_LIQUIDITY)
  ),
  wallet: server(
    'Event of wallet:<address>',
    'Every trade of a wallet on all venues, as in `GET /v1/wallets/{wallet}/trades`. The trades of a block come after all other events of the block',
    events.wallet,
    carry(`wallet:${example.EXAMPLE_USER}`, example.EXAMPLE_WALLET_TRADE)
  ),
  venue: server(
    'Event of venue:<venue>',
    'Every event on a venue',
    events.venue,
    carry('venue:pumpfun', example.EXAMPLE_TRADE)
  ),
  launches: server(
    'Event of launches',
    'Every new launch on all launchpads',
    events.launches,
    carry('launches', example.EXAMPLE_LAUNCH)
  ),
  pools: server(
    'Event of pools',
    'New and changed pools; live only',
    events.pools,
    carry('pools', example.EXAMPLE_POOL_EVENT)
  ),
  curves: server(
    'Event of curves',
    'New curves, and curves that complete or migrate',
    events.curves,
    carry('curves', example.EXAMPLE_CURVE)
  ),
  webhooks: server(
    'Event of webhooks',
    'Changes of the tenant’s own webhooks, sent only to its connections; live only. Changes after one block share a cursor. Messages can be lost: `GET /v1/webhooks` has the current state',
    events.webhooks,
    carry('webhooks', example.EXAMPLE_DEACTIVATION),
    carry('webhooks', example.EXAMPLE_DROPS)
  ),
  tx: server(
    'Event of tx',
    'Changes of the tenant’s own submitted transactions, sent only to its connections. Of states that follow each other fast, only the last one is sent',
    events.tx,
    carry('tx', example.EXAMPLE_SUBMISSION_CHANGE)
  ),
  revenue: server(
    'Event of revenue',
    'Rows added to the ledger of the tenant’s own watched addresses, or removed, sent only to its connections; live only. Several rows can share a cursor. Messages can be lost: `GET /v1/revenue/events` has all rows',
    events.revenue,
    carry('revenue', example.EXAMPLE_LEDGER_ENTRY),
    carry('revenue', example.EXAMPLE_LEDGER_RETRACTION)
  )
}
