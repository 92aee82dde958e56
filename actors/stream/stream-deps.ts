import type { WorkBudget } from '../../src/access/work-budget.ts'
import type { RateCounter } from '../../storage/cluster/coordination.ts'
import type { Clock } from '../../src/ports.ts'
import type { ChannelHistory } from '../../src/stream/channel-history.ts'
import type { StreamHub } from '../../src/stream/hub.ts'
import type { Room } from '../../src/stream/outbox.ts'
import type { ChangeHistory } from '../../src/transactions/change-history.ts'
import type { RetryPolicy } from '../storage/retry.ts'
import type { Horizon } from './horizon.ts'
import type { Replays } from './replays.ts'

/** Dependencies that all connections of a process share. */
export interface StreamDeps {
  readonly hub: StreamHub
  readonly history: Pick<ChannelHistory, 'read'>
  readonly changes: Pick<ChangeHistory, 'read' | 'last'>
  readonly horizon: Horizon
  readonly limits: RateCounter
  /** The work of keys: subscriptions and replayed events. */
  readonly budget: WorkBudget
  /** Bounds of each connection's outbox. */
  readonly room: Room
  readonly clock: Clock
  readonly replays: Replays
  readonly retry: RetryPolicy
  readonly report: (fault: unknown) => void
}
