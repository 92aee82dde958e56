import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { TextSeal } from '../access/text-seal.ts'
import { ServiceError } from '../kernel/errors.ts'
import { previousSecrets, type Rotation } from './rotation.ts'
import { SECRET_PREFIX, signatureHeaders, signingKeysOf, type SigningKeys } from './signature.ts'
import type { Webhook, WebhookSigner } from './webhook.ts'

const SECRET_BYTES = 32
const CIPHER = 'aes-256-gcm'
/** The lengths that NIST SP 800-38D recommends for GCM. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Characters at the end of a secret by which its owner recognises it. */
const HINT_CHARACTERS = 4

type StoredSecret = Webhook['secrets'][number]

/** Identifies a webhook permanently. */
export type WebhookIdentity = Pick<Webhook, 'tenant' | 'id'>

/** A new secret: in clear for its owner, who sees it once, and encrypted as fields of the webhook. */
export interface MadeSecret extends Pick<Webhook, 'secrets' | 'secretHint'> {
  readonly secret: string
}

/**
 * Creates, seals and opens the secrets of webhooks with one key of 32 bytes, and signs with them. A sealed secret can
 * be opened only for its own webhook.
 */
export class WebhookSecrets implements WebhookSigner, TextSeal {
  readonly #key: Uint8Array
  // The document is the map's key, so that an opened secret is freed with it.
  readonly #opened = new WeakMap<StoredSecret, SigningKeys>()

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Creates the first secret of a webhook. */
  make(webhook: WebhookIdentity): MadeSecret {
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
    const stored = { sealed: this.seal(webhook, secret), expiresAtMs: null }
    return { secret, secrets: [stored], secretHint: secret.slice(-HINT_CHARACTERS) }
  }

  /** Creates a further secret, with the earlier ones as `previousSecrets` defines. */
  rotate(webhook: WebhookIdentity & Pick<Webhook, 'secrets'>, rotation: Rotation): MadeSecret {
    const previous = previousSecrets(webhook.secrets, rotation)
    const made = this.make(webhook)
    const secrets = made.secrets.map((stored) => ({ ...stored, operation: rotation.operation }))
    return { ...made, secrets: [...secrets, ...previous] }
  }

  headers(
    webhook: WebhookIdentity & Pick<Webhook, 'secrets'>,
    batch: {
      readonly id: string
      readonly body: Uint8Array
      readonly nowMs: number
      readonly attempt?: number
    }
  ): Record<string, string> {
    const { id: batchId, body, nowMs, attempt } = batch
    const keys = webhook.secrets
      .filter(({ expiresAtMs }) => expiresAtMs === null || nowMs < expiresAtMs)
      .map((stored) => this.#keysOf(webhook, stored))
    const headers = signatureHeaders(keys, { webhookId: webhook.id, batchId, body, nowMs })
    if (attempt !== undefined) headers['X-MR-Attempt'] = String(attempt)
    return headers
  }

  /** Encrypts a secret for a webhook: nonce, ciphertext, tag. */
  seal(webhook: WebhookIdentity, secret: string): Uint8Array<ArrayBuffer> {
    return this.#encrypt(bindingOf(webhook), secret)
  }

  sealText(purpose: string, text: string): string {
    return Buffer.from(this.#encrypt(Buffer.from(purpose), text)).toString('base64')
  }

  openText(purpose: string, sealed: string): string {
    try {
      return this.#decrypt(Buffer.from(purpose), Buffer.from(sealed, 'base64'))
    } catch (cause) {
      const detail = `what was stored for ${purpose} cannot be decrypted with this process's key; set MILLRACE_WEBHOOK_SECRET_KEY to the key that it was encrypted with`
      throw new ServiceError('SERVICE_FAILED', detail, { cause })
    }
  }

  /**
   * Decrypts a secret.
   *
   * @throws ServiceError SERVICE_FAILED if it was sealed with another key or for another webhook, or is damaged
   */
  open(webhook: WebhookIdentity, sealed: Uint8Array): string {
    try {
      return this.#decrypt(bindingOf(webhook), sealed)
    } catch (cause) {
      throw new ServiceError(
        'SERVICE_FAILED',
        `the secret of webhook ${webhook.id} of ${webhook.tenant} cannot be decrypted with this process's key; set MILLRACE_WEBHOOK_SECRET_KEY to the key that it was encrypted with, or rotate the secret`,
        { cause }
      )
    }
  }

  #encrypt(binding: Uint8Array, text: string): Uint8Array<ArrayBuffer> {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(binding)
    return new Uint8Array(
      Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    )
  }

  #decrypt(binding: Uint8Array, sealed: Uint8Array): string {
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const tag = sealed.subarray(sealed.length - TAG_BYTES)
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(binding)
      .setAuthTag(tag)
    const text = sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES)
    return decipher.update(text, undefined, 'utf8') + decipher.final('utf8')
  }

  #keysOf(webhook: WebhookIdentity, stored: StoredSecret): SigningKeys {
    const known = this.#opened.get(stored)
    if (known !== undefined) return known
    const keys = signingKeysOf(this.open(webhook, stored.sealed))
    this.#opened.set(stored, keys)
    return keys
  }
}

function bindingOf({ tenant, id }: WebhookIdentity): Buffer {
  return Buffer.from(JSON.stringify(['webhook', tenant, id]))
}
