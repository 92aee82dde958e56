import { z } from 'zod'
import { flag, optional, type Settings, type Values } from '../kernel/config/setting.ts'

const SECRET_KEY_BYTES = 32

/** Returns a key of 32 bytes from hexadecimal or base64; null for any other text. */
export function readSecretKey(text: string): Uint8Array | null {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return new Uint8Array(Buffer.from(text, 'hex'))
  if (!/^[A-Za-z0-9+/]{43}=?$/.test(text)) return null
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  return bytes.length === SECRET_KEY_BYTES ? bytes : null
}

/** Settings of webhooks. */
export const WEBHOOK_SETTINGS = {
  allowPrivateWebhooks: {
    schema: flag,
    fallback: 'false',
    meaning:
      'whether webhooks may use loopback and private addresses; for development only. A localnet that listens on loopback allows loopback addresses anyway'
  },
  webhookSecretKey: {
    schema: optional(
      z.string().transform((text, context) => {
        const key = readSecretKey(text)
        if (key !== null) return key
        context.addIssue({ code: 'custom', message: 'is not base64 or hexadecimal of 32 bytes' })
        return z.NEVER
      })
    ),
    fallback: '',
    secret: true,
    meaning: 'key that encrypts webhook secrets; empty: one is created in the data folder'
  },
  webhookSecret: {
    schema: optional(z.string().regex(/^[\x21-\x7e]+$/, 'has characters that no webhook secret has')),
    fallback: '',
    secret: true,
    meaning: 'the webhook secret of `millrace listen`'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof WEBHOOK_SETTINGS> {}
}
