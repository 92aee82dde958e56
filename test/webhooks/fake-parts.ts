import { randomBytes } from 'node:crypto'
import type { WebhookServices } from '../../src/kernel/http/deps.ts'
import { NO_SEAL } from '../../src/access/text-seal.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import { previousSecrets } from '../../src/webhooks/rotation.ts'
import type { MadeSecret } from '../../src/webhooks/ports.ts'
import type { DeliveryAttempt, PostOutcome, WebhookPost } from '../../src/webhooks/webhook.ts'

/** The webhook services outside of HTTP, in memory. The test decides the receivers' answers. */
export interface FakeParts extends WebhookServices {
  /** URLs that the guard refuses. */
  readonly refused: Set<string>
  /** URLs that the guard checked. */
  readonly checked: string[]
  readonly posts: { readonly tenant: string; readonly post: WebhookPost }[]
  outcome: PostOutcome
  /** Tenants of the announced changes. */
  readonly announced: string[]
  /** Published changes. */
  readonly told: { readonly tenant: string; readonly id: number; readonly event: string }[]
  /** Attempts of each webhook, newest first. */
  readonly attemptsOf: Map<number, DeliveryAttempt[]>
  waiting: number | null
}

export function fakeParts(): FakeParts {
  const made = (): MadeSecret => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const stored = { sealed: new Uint8Array(Buffer.from(secret)), expiresAtMs: null }
    return { secret, secrets: [stored], secretHint: secret.slice(-4) }
  }
  const parts: FakeParts = {
    refused: new Set(),
    checked: [],
    posts: [],
    outcome: { kind: 'answered', status: 204, retryAfterMs: null, durationMs: 12.4 },
    announced: [],
    told: [],
    attemptsOf: new Map(),
    waiting: null,
    guard: {
      async check(url) {
        parts.checked.push(url)
        if (parts.refused.has(url))
          throw new ServiceError('URL_REFUSED', 'the host of url does not resolve to public addresses only')
      }
    },
    secrets: {
      make: made,
      rotate({ secrets }, rotation) {
        const next = made()
        const { operation } = rotation
        const added = next.secrets.map((stored) => ({ ...stored, operation }))
        return { ...next, secrets: [...added, ...previousSecrets(secrets, rotation)] }
      },
      open: (_webhook, sealed) => Buffer.from(sealed).toString(),
      ...NO_SEAL
    },
    signer: {
      headers: ({ id, secrets }, batch) => ({
        'X-MR-Webhook-Id': String(id),
        'X-MR-Signature': `of ${secrets.length} secrets`,
        'webhook-id': `msg_${batch.id}`
      })
    },
    sender: {
      async post(tenant, post) {
        parts.posts.push({ tenant, post })
        return parts.outcome
      }
    },
    attempts: {
      async list({ value: { id } }, { limit, after }) {
        const all = parts.attemptsOf.get(id) ?? []
        const start = after === null ? 0 : Number(after)
        const next = start + limit < all.length ? String(start + limit) : null
        return { attempts: all.slice(start, start + limit), next }
      },
      async add(_tenant, id, attempts) {
        parts.attemptsOf.set(id, [...attempts, ...(parts.attemptsOf.get(id) ?? [])])
      }
    },
    deliveries: {
      changed: (tenant) => void parts.announced.push(tenant),
      buffered: () => parts.waiting
    },
    changes: {
      publish: ({ tenant, id }, { event }) => void parts.told.push({ tenant, id, event })
    }
  }
  return parts
}
