import {
  command,
  requestsOf,
  SERVICE,
  type CommandGroup,
  type Commands,
  type Row
} from '../kernel/cli/command.ts'

const details = 'Sends requests to a running service. The key of the tenant needs the scope `webhooks`.'
const request = requestsOf({ ...SERVICE, details })
/** Channels of a webhook that a table shows; a webhook can have 50. */
const CHANNELS_SHOWN = 2

const WEBHOOKS: CommandGroup = {
  position: 180,
  summary: 'Lists, creates, tests, enables and deletes webhooks.',
  verbs: {
    list: request({
      summary: 'Lists the webhooks of the tenant.',
      examples: ['millrace webhooks list --key $KEY'],
      endpoint: async () => (await import('./routes/webhooks.ts')).listWebhooks,
      columns: 'id url channels active consecutive_failures last_status last_error buffered dropped_total',
      lines: withFewChannels
    }),
    create: request({
      summary: 'Creates a webhook and shows its secret once.',
      examples: ['millrace webhooks create https://example.com/hook launches venue:pumpfun --key $KEY'],
      endpoint: async () => (await import('./routes/webhooks.ts')).createWebhook,
      operands: { RECEIVER: 'url', 'CHANNEL …': 'channels' }
    }),
    get: request({
      summary: 'Shows a webhook and the state of its deliveries.',
      examples: ['millrace webhooks get ID --key $KEY'],
      endpoint: async () => (await import('./routes/webhooks.ts')).getWebhook,
      operands: { ID: 'id' }
    }),
    test: request({
      summary: 'Sends a test event to the receiver.',
      details: `${details} Exits with 1 if the event is not delivered.`,
      examples: ['millrace webhooks test ID --key $KEY'],
      endpoint: async () => (await import('./routes/webhook-actions.ts')).testWebhook,
      operands: { ID: 'id' },
      isSuccess: ({ delivered }) => delivered === true,
      // The receiver has 10 s, and the POST may wait for others.
      answerMs: 30_000
    }),
    enable: request({
      summary: 'Activates a deactivated webhook, or restarts its deliveries after a cursor.',
      examples: ['millrace webhooks enable ID --since 314460000000000 --key $KEY'],
      endpoint: async () => (await import('./routes/webhook-actions.ts')).enableWebhook,
      operands: { ID: 'id' },
      flags: {
        since: {
          value: 'CURSOR',
          meaning: 'deliver the events after the one with this cursor; default: from the next event on'
        }
      }
    }),
    'rotate-secret': request({
      summary: 'Replaces the secret of a webhook and shows the new one once.',
      examples: ['millrace webhooks rotate-secret ID --grace 3600 --key $KEY'],
      endpoint: async () => (await import('./routes/webhook-actions.ts')).rotateWebhookSecret,
      operands: { ID: 'id' },
      flags: {
        grace: {
          value: 'SECONDS',
          parameter: 'grace_seconds',
          meaning: 'seconds for which the old secret still signs; default: 86400'
        }
      }
    }),
    deliveries: request({
      summary: 'Lists the newest delivery attempts, with their outcomes.',
      examples: ['millrace webhooks deliveries ID --limit 100 --key $KEY'],
      endpoint: async () => (await import('./routes/webhook-actions.ts')).listAttempts,
      operands: { ID: 'id' },
      flags: {
        limit: { value: 'COUNT', fallback: '20', meaning: 'number of attempts, at most 1000; default: 20' }
      },
      columns: 'started_at batch_id attempt events dropped status_code error duration_ms next_retry_at'
    }),
    delete: request({
      summary: 'Deletes a webhook.',
      examples: ['millrace webhooks delete ID --key $KEY'],
      endpoint: async () => (await import('./routes/webhooks.ts')).deleteWebhook,
      operands: { ID: 'id' }
    })
  }
}

/** Returns a webhook with the first of its channels, and the number of the others. */
function withFewChannels(webhook: Row): Row {
  const channels = webhook.channels as readonly string[]
  const more = channels.length - CHANNELS_SHOWN
  const texts = [...channels.slice(0, CHANNELS_SHOWN), ...(more > 0 ? [`${more} more`] : [])]
  return { ...webhook, channels: texts.join(', ') }
}

export const WEBHOOK_COMMANDS: Commands = {
  listen: command({
    position: 30,
    summary: 'Receives deliveries of a webhook, verifies their signatures, and prints one event a line.',
    details:
      'It answers 204 to a delivery with a valid signature, and 400 to any other. Dropped events, repeated batches and ' +
      'refused deliveries are printed to standard error. To receive deliveries on the machine of the service, set ' +
      'MILLRACE_ALLOW_PRIVATE_WEBHOOKS there.',
    options: {
      port: { value: 'PORT', meaning: 'the port to listen on; 0 picks a free one' },
      host: { value: 'HOST', meaning: 'the address to listen on; default: 127.0.0.1' },
      secret: {
        value: 'SECRET',
        meaning: 'the secret of the webhook; MILLRACE_WEBHOOK_SECRET hides it from other users of the machine'
      },
      json: { meaning: 'print each event as a JSON object' }
    },
    settings: [],
    examples: ['millrace listen --port 9000 --secret $SECRET'],
    run: async (invocation) => (await import('./commands/listen.ts')).listen(invocation)
  }),
  webhooks: WEBHOOKS
}
