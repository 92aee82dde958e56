export type * from './api.ts'
export { ApiError, ConnectionError, type ApiErrorCode } from './api-error.ts'
export type * from './events.ts'
export type { Listing, Page } from './listing.ts'
export { createMillrace, type FetchOptions, type Millrace, type Webhooks } from './millrace.ts'
export { VENUES } from './operations.ts'
export type { ConnectOptions, Notice } from './options.ts'
export type { Quota, Quotas } from './quota.ts'
export type { Clock, MillraceOptions, RequestOptions } from './request-options.ts'
export { RpcError, type Rpc } from './rpc.ts'
export { connect, type Client, type SubscribeOptions } from './stream-client.ts'
export { StreamError } from './stream-error.ts'
export type { Subscription } from './subscription.ts'
export type {
  Bundles,
  FollowOptions,
  LandedAt,
  SendOptions,
  SignedTransaction,
  Transactions
} from './transactions.ts'
export { WebhookVerificationError } from './webhook-error.ts'
export type { VerifyOptions, WebhookBatch, WebhookEvent, WebhookHeaders } from './webhooks.ts'
export { verify } from './webhooks.ts'
