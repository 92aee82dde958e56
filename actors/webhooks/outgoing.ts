import type { Clock } from '../../src/ports.ts'
import { UrlGuard, type UrlGuardOptions } from '../../src/webhooks/url-guard.ts'
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'
import { PooledSender } from './sender.ts'

/** Everything that a process needs to send POSTs to receivers: deliveries and test events share it. */
export interface OpenOutgoing {
  readonly guard: UrlGuard
  readonly sender: PooledSender
  readonly secrets: WebhookSecrets
  readonly signer: WebhookSecrets
}

export interface OutgoingOptions {
  readonly clock: Clock
  /** The addresses that deliveries may reach. */
  readonly allows: Pick<UrlGuardOptions, 'allowPrivate' | 'allowLoopback'>
  /** Returns the key that secrets are encrypted with. */
  readonly secretKey: () => Promise<Uint8Array>
}

/** Owns the connections to receivers, and the key of the secrets. */
export function outgoing({ clock, allows, secretKey }: OutgoingOptions): Run<unknown, OpenOutgoing> {
  return async ({ draining, ready, gauge }) => {
    const secrets = new WebhookSecrets(await secretKey())
    const guard = new UrlGuard(allows)
    const sender = new PooledSender({ guard, clock })
    gauge('posts_in_flight', () => sender.inFlight)
    gauge('posts_waiting', () => sender.waiting)
    gauge('origins', () => sender.origins)
    try {
      ready({ guard, sender, secrets, signer: secrets })
      await aborted(draining)
    } finally {
      await sender.close()
    }
  }
}
