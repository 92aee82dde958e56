import type { z } from 'zod'
import type { LEDGER_ENTRY_EVENT } from '../revenue/bodies/ledger-entry.ts'
import type {
  CURVE_EVENT,
  LAUNCH_EVENT,
  LIQUIDITY_EVENT,
  POOL_EVENT,
  PRICE_TICK,
  RETRACTION,
  TRADE_EVENT
} from '../stream/bodies/stream-schema.ts'
import type { SUBMISSION_CHANGE } from '../transactions/bodies/submission-change.ts'
import type { WEBHOOK_CHANGE } from '../webhooks/bodies/webhook-change.ts'

/** A channel name: addresses are base58, venues by their names. */
export type Channel =
  | `trades:${string}`
  | `price:${string}`
  | `pool:${string}`
  | `wallet:${string}`
  | `venue:${string}`
  | 'launches'
  | 'pools'
  | 'curves'
  | PrivateChannel

/** An event on a channel. `data` is as the service sent it, with fields in snake_case. */
interface On<Kind extends string, Data> {
  readonly kind: Kind
  readonly channel: Channel
  /** Position in the order of events: store it once the event is processed, and resume with it as `since`. */
  readonly cursor: number
  /** Whether the event is a past one, sent because of `since`. */
  readonly replay: boolean
  readonly data: Data
}

/** A trade, on `trades:…`, `wallet:…`, `pool:…` and `venue:…`. */
export type TradeEvent = On<'trade', z.output<typeof TRADE_EVENT>>
/** The creation of a token on a launchpad. */
export type LaunchEvent = On<'launch', z.output<typeof LAUNCH_EVENT>>
/** A step in the life of a launchpad's bonding curve, such as its graduation. */
export type CurveEvent = On<'curve', z.output<typeof CURVE_EVENT>>
/** Liquidity that was added to a pool, or removed. */
export type LiquidityEvent = On<'liquidity', z.output<typeof LIQUIDITY_EVENT>>
/** A pool that was created or changed. */
export type PoolEvent = On<'pool', z.output<typeof POOL_EVENT>>
/** The price of a token after a price-forming trade, on `price:…`. */
export type PriceEvent = On<'price', z.output<typeof PRICE_TICK>>
/** Retracts the event with the cursor `data.of`: its block was on an abandoned fork. */
export type RetractEvent = On<'retract', z.output<typeof RETRACTION>>

/** A change of one of the tenant's webhooks. Several changes may share a cursor. */
export type WebhookChangeEvent = On<'webhook', z.output<typeof WEBHOOK_CHANGE>>
/** A change of a submission of the key's tenant. */
export type SubmissionChangeEvent = On<'transaction', z.output<typeof SUBMISSION_CHANGE>>
/** A row added to the ledger of one of the tenant's watched addresses, or removed. Several rows may share a cursor. */
export type LedgerEntryEvent = On<'ledger', z.output<typeof LEDGER_ENTRY_EVENT>>

/** Event types of the channels about the key's tenant. */
export interface PrivateEvents {
  readonly webhooks: WebhookChangeEvent
  readonly tx: SubmissionChangeEvent
  readonly revenue: LedgerEntryEvent
}
/** A channel about the key's tenant. */
export type PrivateChannel = keyof PrivateEvents

/** An event of the chain. */
export type ChainEvent =
  | TradeEvent
  | LaunchEvent
  | CurveEvent
  | LiquidityEvent
  | PoolEvent
  | PriceEvent
  | RetractEvent
/** An event of any channel. */
export type StreamEvent = ChainEvent | PrivateEvents[PrivateChannel]

/**
 * Missing events that the stream cannot send. Either those of `channels` after `since` up to `until` are older than the
 * replay horizon, or a channel is live only (`pools`, `webhooks`, `revenue`; `until` is null). REST returns stored events.
 */
export interface Gap {
  readonly kind: 'gap'
  readonly reason: 'beyond_replay_horizon' | 'replay_not_supported'
  readonly channels: readonly string[]
  readonly since: number
  readonly until: number | null
}

/** An item of a subscription to some channels. */
export type ItemOf<C extends Channel> = EventOn<C> | RetractEvent | Gap

type EventOn<C extends Channel> = C extends `trades:${string}` | `wallet:${string}`
  ? TradeEvent
  : C extends `price:${string}`
    ? PriceEvent
    : C extends `pool:${string}`
      ? TradeEvent | LiquidityEvent | PoolEvent | CurveEvent
      : C extends 'launches'
        ? LaunchEvent
        : C extends 'pools'
          ? PoolEvent
          : C extends 'curves'
            ? CurveEvent
            : C extends PrivateChannel
              ? PrivateEvents[C]
              : Exclude<ChainEvent, PriceEvent>
