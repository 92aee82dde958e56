import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Arena } from '../../src/kernel/memory/arena.ts'
import { ChannelTable } from '../../src/stream/channel-table.ts'
import { isPrivate, type Channel, type ReplayedChannel } from '../../src/stream/channel.ts'
import { eventFrames, type Frames } from '../../src/stream/frames.ts'
import { endOf, type StreamHub } from '../../src/stream/hub.ts'
import type { ChannelEvents, MergedPast } from '../../src/stream/merged-past.ts'
import type { RunPiece } from '../../src/kernel/work/turns.ts'
import type { RetryPolicy } from '../storage/retry.ts'
import type { Replays } from './replays.ts'

/** The parts of a connection and of the service that a replay uses. */
export interface CatchingUp {
  readonly hub: StreamHub
  /** Shared by all replays of the process: it bounds concurrent reads and memory. */
  readonly replays: Replays
  /** The tenant whose turns the reads take. */
  readonly tenant: string
  readonly retry: RetryPolicy
  /** Hands the channels over to the hub. Called in the same turn of the event loop in which they reached the head. */
  readonly join: (channels: readonly ReplayedChannel[]) => void
  /** Resolves when the connection's queue is nearly sent; at once when it is empty. */
  readonly room: () => Promise<void>
  /** Resolves when the key may use more work; null if it may now. */
  readonly workLeft: () => Promise<void> | null
  /** Charges the key for events that were sent. */
  readonly charge: (events: number) => void
  /** Tells whether the socket has sent everything that it was given. */
  readonly isSent: () => boolean
  /** Sends events of several channels, merged in cursor order. */
  readonly give: (parts: readonly Frames[]) => void
  /** The last cursor before the replayable range. */
  readonly horizon: () => number
  /** Tells the client that events up to the horizon are no longer available. */
  readonly beyond: (channels: readonly ReplayedChannel[], since: number, horizon: number) => void
  readonly end: AbortSignal
}

/**
 * Replays past events of some channels, oldest first, up to the head, and then hands the channels over to the hub. Rejects
 * with the store's error.
 *
 * P1. No block can be published between the last read of the head and `join`: nothing is missed and nothing is sent twice.
 * P2. The next page is read when the page before is nearly sent, so that a slow reader holds little memory.
 * P3. A key without work left waits for its next units: nothing is missed, unless the horizon passes the replay.
 *
 * Recent blocks come from the hub's memory instead of the store. So a replay catches up with a head that moves fast.
 */
export function catchUp(past: MergedPast, isReplay: boolean, client: CatchingUp): Promise<void> {
  return client.replays.withArena((arena) => inPages(past, isReplay, client, arena))
}

async function inPages(past: MergedPast, isReplay: boolean, client: CatchingUp, arena: Arena): Promise<void> {
  const { hub, replays, tenant, retry, join, room, workLeft, isSent, horizon, beyond, end } = client
  for (;;) {
    await room()
    if (isSent() && !past.holdsEvents) arena.reuse()
    else arena.leave()
    if (end.aborted || past.channels.length === 0) return
    if (past.position > hub.head) {
      await hub.reaches(past.position, end)
      continue
    }
    if (past.position === hub.head) return join(past.channels)
    if (past.position < horizon()) {
      beyond(past.channels, past.position, horizon())
      past.skipTo(horizon())
      continue
    }
    const wait = workLeft()
    if (wait !== null) {
      await wait
      continue
    }
    const chain = past.channels.filter((channel): channel is Channel => !isPrivate(channel))
    // Changes of submissions come from the store, in the order of all.
    const isOfChain = chain.length === past.channels.length
    const [block] = (isOfChain ? hub.recentAfter(past.position) : null) ?? []
    if (block === undefined) {
      const runPiece: RunPiece = (piece) => replays.turn(tenant, piece, end)
      // While the store does not answer, no turn is held.
      const events = await retry(() => past.next(hub.head, arena, runPiece), end)
      await replays.turn(
        tenant,
        () => {
          const requested = new Set(past.channels)
          give(events.filter(({ channel }) => requested.has(channel)))
        },
        end
      )
      await yieldToEventLoop()
    } else {
      const { position } = past
      const channels = new ChannelTable<Channel>()
      for (const channel of chain) channels.set(channel, channel)
      give(
        Array.from(block.on(channels), ([channel, events]) => ({
          channel,
          events: events.filter(({ cursor }) => cursor > position)
        }))
      )
      past.skipTo(endOf(block.slot))
    }
  }

  function give(parts: readonly ChannelEvents[]): void {
    const frames = parts
      .filter(({ events }) => events.length > 0)
      .map(({ channel, events }) => eventFrames(channel.name, events, isReplay, arena))
    if (frames.length === 0) return
    client.charge(parts.reduce((sum, { events }) => sum + events.length, 0))
    client.give(frames)
  }
}
