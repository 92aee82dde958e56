import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { StreamGateway } from '../../stream/gateway.ts'
import type { WebhookServices } from '../services.ts'

/** Needs of the routes of webhooks. */
export interface WebhookNeeds extends Pick<HttpKernel, 'storage' | 'limits' | 'clock'> {
  /** Null in a process that serves no webhooks. */
  readonly webhooks: WebhookServices | null
  /** The stream, whose horizon limits `since`; null in a process that serves no stream. */
  readonly stream: StreamGateway | null
}
