import type { Clock } from '../../src/ports.ts'
import type { UrlGuard } from '../../src/webhooks/url-guard.ts'
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'
import { PooledSender } from './sender.ts'

/** Everything that is needed to reach the receivers of webhooks. */
export interface Receivers {
  readonly guard: UrlGuard
  readonly secrets: WebhookSecrets
  readonly sender: PooledSender
}

export interface ReceiversDeps {
  readonly guard: UrlGuard
  /** Returns the key that secrets are encrypted with. */
  readonly secretKey: () => Promise<Uint8Array>
  readonly clock: Clock
}

/** Owns the connections to the receivers of webhooks, and the key of their secrets. */
export function receivers({ guard, secretKey, clock }: ReceiversDeps): Run<unknown, Receivers> {
  return async ({ draining, ready, gauge }) => {
    const secrets = new WebhookSecrets(await secretKey())
    const sender = new PooledSender({ guard, clock })
    try {
      gauge('posts_in_flight', () => sender.inFlight)
      gauge('posts_waiting', () => sender.waiting)
      gauge('origins', () => sender.origins)
      ready({ guard, secrets, sender })
      await aborted(draining)
    } finally {
      await sender.close()
    }
  }
}
