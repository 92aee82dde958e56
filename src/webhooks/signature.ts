import { createHmac } from 'node:crypto'

/** The beginning of every secret; 32 bytes in base64 follow. */
export const SECRET_PREFIX = 'whsec_'

/** The keys of a secret in both schemes. */
export interface SigningKeys {
  /** The secret as its owner sees it, prefix included. */
  readonly text: string
  /** The bytes that the secret is the base64 of. */
  readonly bytes: Uint8Array
}

/** Returns the keys of a secret. */
export function signingKeysOf(secret: string): SigningKeys {
  return { text: secret, bytes: Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64') }
}

export interface SignedBatch {
  readonly webhookId: number
  readonly batchId: string
  readonly body: Uint8Array
  readonly nowMs: number
}

/**
 * Returns the headers that authenticate the sender of a batch: `X-MR-…`, and those of Standard Webhooks. `keys`
 * starts with those of the current secret. Earlier secrets that still sign follow, newest first: in
 * `webhook-signature`, and in separate headers.
 */
export function signatureHeaders(keys: readonly SigningKeys[], batch: SignedBatch): Record<string, string> {
  const { webhookId, batchId, body, nowMs } = batch
  const id = `msg_${batchId}`
  const seconds = Math.floor(nowMs / 1_000)
  const [current, previous, ...earlier] = keys.map(
    ({ text }) => `sha256=${sign(text, `${nowMs}.`, body, 'hex')}`
  )
  const standard = keys.map(({ bytes }) => `v1,${sign(bytes, `${id}.${seconds}.`, body, 'base64')}`)
  return {
    'X-MR-Webhook-Id': String(webhookId),
    'X-MR-Timestamp': String(nowMs),
    ...(current !== undefined && { 'X-MR-Signature': current }),
    ...(previous !== undefined && { 'X-MR-Signature-Previous': previous }),
    ...(earlier.length > 0 && { 'X-MR-Signature-Earlier': earlier.join(', ') }),
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' ')
  }
}

function sign(
  key: string | Uint8Array,
  prefix: string,
  body: Uint8Array,
  encoding: 'hex' | 'base64'
): string {
  return createHmac('sha256', key).update(prefix).update(body).digest(encoding)
}
