import type { SettingName } from '../config/config.ts'
import { command, type CommandGroup } from './command.ts'

const settings = ['key', 'host', 'port'] as const satisfies readonly SettingName[]
const details = 'Sends requests to a running service. The key of the tenant needs the scope `webhooks`.'
const everywhere = {
  json: { meaning: 'print JSON objects instead of a table' },
  url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
} as const

export const WEBHOOKS: CommandGroup = {
  summary: 'Lists, creates, tests, enables and deletes webhooks.',
  verbs: {
    list: command({
      summary: 'Lists the webhooks of the tenant.',
      details,
      options: everywhere,
      settings,
      examples: ['millrace webhooks list --key $KEY'],
      run: async (invocation) => (await import('./webhooks.ts')).listWebhooks(invocation)
    }),
    create: command({
      summary: 'Creates a webhook and shows its secret once.',
      details,
      operands: 'RECEIVER CHANNEL …',
      options: everywhere,
      settings,
      examples: ['millrace webhooks create https://example.com/hook launches venue:pumpfun --key $KEY'],
      run: async (invocation) => (await import('./webhooks.ts')).createWebhook(invocation)
    }),
    get: command({
      summary: 'Shows a webhook and the state of its deliveries.',
      details,
      operands: 'ID',
      options: everywhere,
      settings,
      examples: ['millrace webhooks get ID --key $KEY'],
      run: async (invocation) => (await import('./webhooks.ts')).getWebhook(invocation)
    }),
    test: command({
      summary: 'Sends a test event to the receiver.',
      details: `${details} Exits with 1 if the event is not delivered.`,
      operands: 'ID',
      options: everywhere,
      settings,
      examples: ['millrace webhooks test ID --key $KEY'],
      run: async (invocation) => (await import('./webhooks.ts')).testWebhook(invocation)
    }),
    enable: command({
      summary: 'Activates a deactivated webhook, or restarts its deliveries after a cursor.',
      details,
      operands: 'ID',
      options: {
        since: {
          value: 'CURSOR',
          meaning: 'deliver the events after the one with this cursor; default: from the next event on'
        },
        ...everywhere
      },
      settings,
      examples: ['millrace webhooks enable ID --since 314460000000000 --key $KEY'],
      run: async (invocation) => (await import('./webhooks.ts')).enableWebhook(invocation)
    }),
    'rotate-secret': command({
      summary: 'Replaces the secret of a webhook and shows the new one once.',
      details,
      operands: 'ID',
      options: {
        grace: { value: 'SECONDS', meaning: 'seconds for which the old secret still signs; default: 86400' },
        ...everywhere
      },
      settings,
      examples: ['millrace webhooks rotate-secret ID --grace 3600 --key $KEY'],
      run: async (invocation) => (await import('./webhooks.ts')).rotateSecret(invocation)
    }),
    deliveries: command({
      summary: 'Lists the newest delivery attempts, with their outcomes.',
      details,
      operands: 'ID',
      options: {
        limit: { value: 'COUNT', meaning: 'number of attempts, at most 1000; default: 20' },
        ...everywhere
      },
      settings,
      examples: ['millrace webhooks deliveries ID --limit 100 --key $KEY'],
      run: async (invocation) => (await import('./webhooks.ts')).listDeliveries(invocation)
    }),
    delete: command({
      summary: 'Deletes a webhook.',
      details,
      operands: 'ID',
      options: everywhere,
      settings,
      examples: ['millrace webhooks delete ID --key $KEY'],
      run: async (invocation) => (await import('./webhooks.ts')).deleteWebhook(invocation)
    })
  }
}
