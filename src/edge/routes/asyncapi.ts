import { openSlices } from '../../kernel/work/slices.ts'
import { ERRORS, type ErrorCode } from '../../kernel/errors.ts'
import { PRIVATE_CHANNEL_SCOPES, type PrivateChannelName } from '../../stream/channel.ts'
import { CLOSE_CODES } from '../../stream/close-codes.ts'
import { ERROR_MEANINGS, EVENT_MESSAGES } from '../../stream/message-schemas.ts'
import { JsonSchemas, type JsonSchema } from '../../kernel/http/json-schemas.ts'
import type { DocumentFacts } from './openapi.ts'
import { PROBLEM_TEXTS } from './problem-texts.ts'
import { STREAM_PATH } from '../../kernel/http/handshake.ts'
import { STREAM_MESSAGES } from '../../stream/routes/stream-messages.ts'
import {
  POST_BATCH,
  RECEIVER,
  WEBHOOK_CHANNEL,
  webhookBatchMessage
} from '../../webhooks/routes/webhook-message.ts'

/** Messages whose schemas are made before other work runs: 0.3 ms each. */
const MESSAGES_AT_ONCE = 4

const EVENTS = Object.keys(EVENT_MESSAGES)

/** Requests of a client, with the messages that can answer each. */
const REQUESTS = {
  subscribe: ['subscribed', 'error'],
  unsubscribe: ['unsubscribed', 'error'],
  ping: ['pong', 'error']
} as const

const WARNINGS = [
  'beyondReplayHorizon',
  'cursorAheadOfHead',
  'replayNotSupported',
  'eventsDropped',
  'serverDraining'
] as const

/** Errors that can refuse a handshake. */
const REFUSALS: readonly ErrorCode[] = [
  'STREAM_KEY_REFUSED',
  'SCOPE_MISSING',
  'IP_REFUSED',
  'ORIGIN_REFUSED',
  'UPGRADE_MISSING',
  'RATE_LIMITED',
  'CONNECTIONS_EXCEEDED',
  'SERVICE_DRAINING',
  'RESTARTING'
]

const ABOUT = `Sends every event of the subscribed channels once, in cursor order.

**Resume.** Every event has a \`cursor\`. Store the cursor of the last processed event. After a lost connection, subscribe
with \`since\` set to it. The missed events come first, marked \`"replay":true\`; \`replay_complete\` and live events
follow. No event is missing and none is repeated. The client \`millrace/client\` does this automatically.

**Data.** \`data\` has the fields of the REST rows, with one difference. In REST rows, \`ts_ms\` is the block time. On the
stream, \`ts_ms\` is the time of ingest, when the service received the block, and \`block_time\` is the block time. Fields,
warnings and errors may be added.`

const table = (head: string, rows: readonly (readonly [string | number, string])[]): string =>
  [
    `| ${head} | Meaning |`,
    '| --- | --- |',
    ...rows.map(([name, meaning]) => `| ${name} | ${meaning} |`)
  ].join('\n')

/** Returns the subject of an event's channel, and the scope that a key needs for the channel. */
function channelMeaning(event: string): string {
  const { summary } = STREAM_MESSAGES[event]!
  const scope = Object.hasOwn(PRIVATE_CHANNEL_SCOPES, event)
    ? PRIVATE_CHANNEL_SCOPES[event as PrivateChannelName]
    : null
  return scope === null ? summary : `${summary}. Needs the scope \`${scope}\``
}

const CHANNEL_ABOUT = [
  'One WebSocket carries up to 50 channels. A connection needs the scope `stream`; a channel of the tenant needs the scope of its product as well, for as long as it is subscribed.',
  table(
    'Channel',
    EVENTS.map((name) => {
      const { title } = STREAM_MESSAGES[name]!
      return [`\`${title.replace('Event of ', '')}\``, channelMeaning(name)] as const
    })
  ),
  '**Errors** leave the connection open, except `message_too_large`.',
  table(
    'Code',
    Object.entries(ERROR_MEANINGS).map(([code, meaning]) => [`\`${code}\``, meaning] as const)
  ),
  '**A handshake** can be refused with a problem, like any request.',
  table(
    'Answer',
    REFUSALS.map((error) => {
      const { status, code } = ERRORS[error]
      return [`${status} \`${code}\``, PROBLEM_TEXTS[error].meaning] as const
    })
  ),
  '**Close codes**',
  table(
    'Code',
    CLOSE_CODES.map(({ code, meaning, again }) => [
      code,
      `${meaning}. ${again ? 'Reconnect' : 'Do not reconnect'}`
    ])
  )
].join('\n\n')

const CHANNEL = '#/channels/stream'
const refs = (names: readonly string[]): readonly JsonSchema[] =>
  names.map((name) => ({ $ref: `${CHANNEL}/messages/${name}` }))

/** Makes the AsyncAPI 3.0 document of the stream, in slices. */
export async function asyncApiOf({ version, sourceKind }: DocumentFacts): Promise<JsonSchema> {
  const schemas = new JsonSchemas()
  const entries = await openSlices.mapReads(
    Object.entries(STREAM_MESSAGES),
    async ([name, { from, title, summary, schema, examples }]) => {
      const message = {
        name,
        title,
        summary,
        contentType: 'application/json',
        payload: from === 'client' ? schemas.ofInput(schema) : schemas.ofOutput(schema),
        examples: examples.map((payload) => ({ payload }))
      }
      return [name, message] as const
    },
    MESSAGES_AT_ONCE
  )
  await openSlices.pause()
  const ofStream = Object.fromEntries(entries)
  const messages = { ...ofStream, webhookBatch: webhookBatchMessage(schemas) }
  return {
    asyncapi: '3.0.0',
    info: {
      title: sourceKind === 'localnet' ? 'Millrace stream (localnet)' : 'Millrace stream',
      version,
      description: ABOUT
    },
    defaultContentType: 'application/json',
    servers: {
      service: {
        host: '{host}',
        protocol: 'ws',
        description: 'This service; `wss` if a proxy in front of it terminates TLS',
        variables: { host: { default: '127.0.0.1:8900', description: 'Host and port of the service' } },
        security: ['KeyInQuery', 'ApiKeyInQuery', 'KeyInHeader', 'Bearer'].map((name) => ({
          $ref: `#/components/securitySchemes/${name}`
        }))
      },
      receiver: RECEIVER
    },
    channels: {
      stream: {
        address: STREAM_PATH,
        title: 'The stream',
        description: CHANNEL_ABOUT,
        servers: [{ $ref: '#/servers/service' }],
        messages: Object.fromEntries(
          Object.keys(ofStream).map((name) => [name, { $ref: `#/components/messages/${name}` }])
        ),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
        'x-close-codes': CLOSE_CODES
      },
      webhook: WEBHOOK_CHANNEL
    },
    operations: { ...operations(), postBatch: POST_BATCH },
    components: {
      schemas: schemas.components,
      messages,
      securitySchemes: {
        KeyInQuery: {
          type: 'httpApiKey',
          in: 'query',
          name: 'key',
          description: 'The API key, with the scope `stream`, for browsers'
        },
        ApiKeyInQuery: {
          type: 'httpApiKey',
          in: 'query',
          name: 'api-key',
          description: 'The API key, under the name that node providers use'
        },
        KeyInHeader: { type: 'httpApiKey', in: 'header', name: 'X-API-Key', description: 'The API key' },
        Bearer: { type: 'http', scheme: 'bearer', description: 'The API key, as a bearer token' }
      }
    }
  }
}

/** Returns the operations from the service's view: it receives requests and sends everything else. */
function operations(): JsonSchema {
  const send = (summary: string, names: readonly string[]): JsonSchema => ({
    action: 'send',
    summary,
    channel: { $ref: CHANNEL },
    messages: refs(names)
  })
  return {
    ...Object.fromEntries(
      Object.entries(REQUESTS).map(([name, answers]) => [
        name,
        {
          action: 'receive',
          summary: STREAM_MESSAGES[name]!.summary,
          channel: { $ref: CHANNEL },
          messages: refs([name]),
          reply: { channel: { $ref: CHANNEL }, messages: refs(answers) }
        }
      ])
    ),
    greet: send('Sends the tenant, the limits and the replay horizon', ['hello']),
    tell: send('Sends events, each once, in cursor order', EVENTS),
    endReplay: send('Marks the end of a replay', ['replayComplete']),
    warn: send('Warns, in cursor order, that a request cannot be met in full', WARNINGS)
  }
}
