import { flag, type Setting } from '../setting.ts'

/** Settings of webhooks. */
export const WEBHOOK_SETTINGS = {
  allowPrivateWebhooks: {
    inert: true,
    schema: flag,
    fallback: 'false',
    meaning: 'webhooks to loopback, for development'
  }
} satisfies Record<string, Setting>
