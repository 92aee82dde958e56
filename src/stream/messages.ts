import { z } from 'zod'
import { readCursor } from '../market/cursor.ts'
import type { Hole } from './outbox.ts'

/** Channels of a connection (spec, Limits). */
export const CHANNELS_MAX = 50
/** A message of a client may be so long; what is longer than `MESSAGE_BYTES_HARD_MAX` closes the connection with 1009. Chosen. */
export const MESSAGE_BYTES_MAX = 16 * 1024
export const MESSAGE_BYTES_HARD_MAX = 64 * 1024
export const PROTOCOL = 1

const names = z.array(z.string()).min(1)

/** What a client may send; members that are not named are ignored. */
const CLIENT_MESSAGE = z.union([
  z.object({ subscribe: names, since: z.unknown().optional() }),
  z.object({ unsubscribe: names }),
  z.object({ ping: z.literal(true) })
])

export type ClientMessage =
  | { readonly kind: 'subscribe'; readonly names: readonly string[]; readonly since: Since }
  | { readonly kind: 'unsubscribe'; readonly names: readonly string[] }
  | { readonly kind: 'ping' }
  | { readonly kind: 'fault'; readonly message: string }

/** Where a subscription begins: with what comes, after a cursor, or nowhere, for what was sent is no cursor. */
export type Since = 'now' | 'invalid' | number

const SHAPES =
  'send {"subscribe":[channel, …],"since":cursor?}, {"unsubscribe":[channel, …]} or {"ping":true} as JSON text'

/** A message as a client sent it. */
export function readMessage(text: string): ClientMessage {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'fault', message: `this is no JSON; ${SHAPES}` }
  }
  const read = CLIENT_MESSAGE.safeParse(value)
  if (!read.success) return { kind: 'fault', message: SHAPES }
  const message = read.data
  if ('ping' in message) return { kind: 'ping' }
  if ('unsubscribe' in message) return { kind: 'unsubscribe', names: message.unsubscribe }
  const { since } = message
  const cursor = since === undefined || since === null ? 'now' : (readCursor(since) ?? 'invalid')
  return { kind: 'subscribe', names: message.subscribe, since: cursor }
}

export type ErrorName =
  | 'invalid_json'
  | 'unknown_channel'
  | 'invalid_address'
  | 'channel_limit'
  | 'invalid_cursor'
  | 'message_too_large'
  | 'rate_limited'
  | 'internal'

/** A place in the order of events, and when it was. */
export interface Place {
  readonly cursor: number
  readonly tsMs: number
  readonly slot: number
}

export const hello = (tenant: string, head: number, horizon: Place | null, nowMs: number) => ({
  type: 'hello',
  tenant,
  channels: [],
  cursor: Math.max(head, 0),
  horizon: horizon === null ? null : { cursor: horizon.cursor, ts_ms: horizon.tsMs, slot: horizon.slot },
  limits: { channels: CHANNELS_MAX, buffer: 2_000 },
  server_time_ms: nowMs,
  protocol: PROTOCOL
})

export const subscribed = (
  channels: readonly string[],
  added: readonly string[],
  since: Since,
  replaying: boolean,
  head: number
) => ({
  type: 'subscribed',
  channels,
  added,
  since: typeof since === 'number' ? since : undefined,
  replaying,
  cursor: Math.max(head, 0)
})

export const unsubscribed = (channels: readonly string[]) => ({ type: 'unsubscribed', channels })

export const PONG = { type: 'pong' } as const

export const replayComplete = (cursor: number, channels: readonly string[]) => ({
  type: 'replay_complete',
  cursor,
  channels
})

export const beyondHorizon = (channels: readonly string[], since: number, horizon: number) => ({
  type: 'warning',
  code: 'beyond_replay_horizon',
  channels,
  since,
  horizon,
  message: 'older events are not kept for replay: it begins at the horizon; REST has the rows from before'
})

export const aheadOfHead = (channels: readonly string[], since: number, head: number) => ({
  type: 'warning',
  code: 'cursor_ahead_of_head',
  channels,
  since,
  cursor: Math.max(head, 0),
  message: 'nothing is that new yet: events after this cursor are sent as they come'
})

export const replayNotSupported = (channels: readonly string[]) => ({
  type: 'warning',
  code: 'replay_not_supported',
  channels,
  message: 'this channel is live only'
})

export const eventsDropped = ({ dropped, from, to, channels }: Hole) => ({
  type: 'warning',
  code: 'events_dropped',
  dropped,
  from_cursor: from,
  to_cursor: to,
  channels: [...channels],
  message:
    'events were dropped here, since they were not read in time: subscribe since from_cursor to have them'
})

export const serverDraining = (retryAfterMs: number) => ({
  type: 'warning',
  code: 'server_draining',
  retry_after_ms: retryAfterMs,
  message: 'the service is stopping: connect again after this time, since the last cursor'
})

export const errorMessage = (code: ErrorName, message: string, channels?: readonly string[]) => ({
  type: 'error',
  code,
  message,
  channels
})
