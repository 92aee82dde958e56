import type { z } from 'zod'
import type { Scope } from '../access/scopes.ts'
import { isTooDeep } from '../kernel/json-depth.ts'
import { readCursor } from '../market/cursor.ts'
import { CLIENT_MESSAGE, type ErrorName } from './message-schemas.ts'
import type * as schemas from './message-schemas.ts'
import { BUFFER, type Hole } from './outbox.ts'

export type { ErrorName }

/** Maximum channels of a connection (src/docs/stream.md). */
export const CHANNELS_MAX = 50
export const PROTOCOL = 1

export interface SubscribeMessage {
  readonly kind: 'subscribe'
  readonly names: readonly string[]
  readonly since: Since
  readonly fields: Fields
}

export type ClientMessage =
  | SubscribeMessage
  | { readonly kind: 'unsubscribe'; readonly names: readonly string[] }
  | { readonly kind: 'ping' }
  | { readonly kind: 'fault'; readonly message: string }

/** The start of a subscription: live, after a cursor, or a malformed value. */
export type Since = 'now' | 'invalid' | number

const SHAPES =
  'send {"subscribe":[channel, …],"since":cursor?,"fields":[name, …]?}, {"unsubscribe":[channel, …]} or {"ping":true} as JSON text'

/** The fields that a subscription selects: absent, all (null), their names, or a malformed value. */
export type Fields = readonly string[] | null | undefined | 'invalid'

/** Parses a client's message. */
export function readMessage(text: string): ClientMessage {
  if (isTooDeep(Buffer.from(text))) return { kind: 'fault', message: `this is nested too deep; ${SHAPES}` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'fault', message: `this is not JSON; ${SHAPES}` }
  }
  const read = CLIENT_MESSAGE.safeParse(value)
  if (!read.success) return { kind: 'fault', message: SHAPES }
  const message = read.data
  if ('ping' in message) return { kind: 'ping' }
  if ('unsubscribe' in message) return { kind: 'unsubscribe', names: message.unsubscribe }
  const { since } = message
  const cursor = since === undefined || since === null ? 'now' : (readCursor(since) ?? 'invalid')
  return { kind: 'subscribe', names: message.subscribe, since: cursor, fields: fieldsIn(message.fields) }
}

function fieldsIn(value: unknown): Fields {
  if (value === undefined || value === null) return value
  const isNames = Array.isArray(value) && value.every((name) => typeof name === 'string')
  return isNames ? value : 'invalid'
}

/** A message as its builder returns it: typed by the schema, without validation. */
type Sent<Schema extends z.ZodType> = {
  readonly [Name in keyof z.input<Schema>]: Frozen<z.input<Schema>[Name]>
}
type Frozen<T> = T extends readonly (infer Item)[] ? readonly Item[] : T

/** A position in the order of events, with its time. */
export interface Place {
  readonly cursor: number
  readonly tsMs: number
  readonly slot: number
}

export const hello = (
  tenant: string,
  head: number,
  horizon: Place | null,
  nowMs: number
): Sent<typeof schemas.HELLO> => ({
  type: 'hello',
  tenant,
  channels: [],
  cursor: Math.max(head, 0),
  horizon: horizon === null ? null : { cursor: horizon.cursor, ts_ms: horizon.tsMs, slot: horizon.slot },
  limits: { channels: CHANNELS_MAX, buffer: BUFFER.events },
  server_time_ms: nowMs,
  protocol: PROTOCOL
})

export const subscribed = (
  channels: readonly string[],
  added: readonly string[],
  since: Since,
  replaying: boolean,
  head: number,
  fields?: readonly string[] | null
): Sent<typeof schemas.SUBSCRIBED> => ({
  type: 'subscribed',
  channels,
  added,
  since: typeof since === 'number' ? since : undefined,
  fields: fields ?? undefined,
  replaying,
  cursor: Math.max(head, 0)
})

export const unsubscribed = (channels: readonly string[]): Sent<typeof schemas.UNSUBSCRIBED> => ({
  type: 'unsubscribed',
  channels
})

export const PONG: Sent<typeof schemas.PONG_MESSAGE> = { type: 'pong' }

export const replayComplete = (
  cursor: number,
  channels: readonly string[]
): Sent<typeof schemas.REPLAY_COMPLETE> => ({
  type: 'replay_complete',
  cursor,
  channels
})

export const beyondHorizon = (
  channels: readonly string[],
  since: number,
  horizon: number
): Sent<typeof schemas.BEYOND_REPLAY_HORIZON> => ({
  type: 'warning',
  code: 'beyond_replay_horizon',
  channels,
  since,
  horizon,
  message:
    'older events are not stored for replay: the replay begins at the horizon; REST has the rows from before, as far as the retention reaches'
})

export const aheadOfHead = (
  channels: readonly string[],
  since: number,
  head: number,
  after: number
): Sent<typeof schemas.CURSOR_AHEAD_OF_HEAD> => ({
  type: 'warning',
  code: 'cursor_ahead_of_head',
  channels,
  since,
  cursor: Math.max(head, 0),
  after,
  message:
    after === since
      ? 'since is slightly newer than any event: events after it are sent as they come'
      : 'since is far newer than any event: the channels are live from the newest block on'
})

export const replayNotSupported = (
  channels: readonly string[]
): Sent<typeof schemas.REPLAY_NOT_SUPPORTED> => ({
  type: 'warning',
  code: 'replay_not_supported',
  channels,
  message: 'this channel is live only'
})

export const eventsDropped = ({
  dropped,
  from,
  to,
  channels
}: Hole): Sent<typeof schemas.EVENTS_DROPPED> => ({
  type: 'warning',
  code: 'events_dropped',
  dropped,
  from_cursor: from,
  to_cursor: to,
  channels: [...channels],
  message:
    'events were dropped here, because they were not read in time: to get them, subscribe with from_cursor as since'
})

export const serverDraining = (retryAfterMs: number): Sent<typeof schemas.SERVER_DRAINING> => ({
  type: 'warning',
  code: 'server_draining',
  retry_after_ms: retryAfterMs,
  message: 'the service is stopping: reconnect after this time, with the last cursor as since'
})

/** Reports channels whose scope a key lacks, at a request or after a change of the key. */
export const scopeMissing = (
  scope: Scope,
  channels: readonly string[],
  state: 'lacks' | 'no longer has'
): Sent<typeof schemas.ERROR> =>
  errorMessage(
    'insufficient_scope',
    `this API key ${state} the scope ${scope}, which the channel needs`,
    channels
  )

export const errorMessage = (
  code: ErrorName,
  message: string,
  channels?: readonly string[]
): Sent<typeof schemas.ERROR> => ({
  type: 'error',
  code,
  message,
  channels
})
