import type { z } from 'zod'
import type {
  CURVE_EVENT,
  LAUNCH_EVENT,
  LIQUIDITY_EVENT,
  POOL_EVENT,
  PRICE_TICK,
  RETRACTION,
  TRADE_EVENT
} from '../api/stream-schema.ts'

/** What can be subscribed to: addresses are base58, venues by their names. */
export type Channel =
  | `trades:${string}`
  | `price:${string}`
  | `pool:${string}`
  | `venue:${string}`
  | 'launches'
  | 'pools'
  | 'curves'

/** An event on a channel. `data` is as the service sent it, and has its fields in snake_case. */
interface On<Kind extends string, Data> {
  readonly kind: Kind
  readonly channel: Channel
  /** Its place in the order of events: store it once the event is processed, and go on `since` it. */
  readonly cursor: number
  /** Whether it is past, and sent because of `since`. */
  readonly replay: boolean
  readonly data: Data
}

export type TradeEvent = On<'trade', z.output<typeof TRADE_EVENT>>
export type LaunchEvent = On<'launch', z.output<typeof LAUNCH_EVENT>>
export type CurveEvent = On<'curve', z.output<typeof CURVE_EVENT>>
export type LiquidityEvent = On<'liquidity', z.output<typeof LIQUIDITY_EVENT>>
export type PoolEvent = On<'pool', z.output<typeof POOL_EVENT>>
export type PriceEvent = On<'price', z.output<typeof PRICE_TICK>>
/** Takes back the event whose cursor is `data.of`: its block was of a fork that is lost. */
export type RetractEvent = On<'retract', z.output<typeof RETRACTION>>

export type StreamEvent =
  TradeEvent | LaunchEvent | CurveEvent | LiquidityEvent | PoolEvent | PriceEvent | RetractEvent

/**
 * Events are missing here that the stream cannot give: those of `channels` after `since` are older than what it replays,
 * up to `until`, or the channel is live only (`pools`), `until` null. REST has what is stored of them.
 */
export interface Gap {
  readonly kind: 'gap'
  readonly reason: 'beyond_replay_horizon' | 'replay_not_supported'
  readonly channels: readonly string[]
  readonly since: number
  readonly until: number | null
}

/** What a subscription to some channels gives. */
export type ItemOf<C extends Channel> = EventOn<C> | RetractEvent | Gap

type EventOn<C extends Channel> = C extends `trades:${string}`
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
            : Exclude<StreamEvent, PriceEvent>
