import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Arena } from '../../src/memory/arena.ts'
import { ChannelTable } from '../../src/stream/channel-table.ts'
import type { Channel } from '../../src/stream/channel.ts'
import { eventFrames, type Frames } from '../../src/stream/frames.ts'
import { endOf, type StreamHub } from '../../src/stream/hub.ts'
import type { ChannelEvents, MergedPast } from '../../src/stream/merged-past.ts'
import type { Patience } from '../storage/patience.ts'
import type { Replays } from './replays.ts'

/** What catching up needs of a connection and of the service. */
export interface CatchingUp {
  readonly hub: StreamHub
  /** All who read from the store share it; a few pages at most are given before blocks are told. */
  readonly replays: Replays
  readonly patience: Patience
  /** Takes the channels over, in the turn in which nothing is missing up to the head. */
  readonly join: (channels: readonly Channel[]) => void
  /** Resolves when what is owed has been sent, nearly; at once when nothing is. */
  readonly room: () => Promise<void>
  /** Whether all that was given has been sent. */
  readonly isSent: () => boolean
  /** Sends events of some channels in one order. */
  readonly give: (parts: readonly Frames[]) => void
  /** The last cursor before what can be replayed. */
  readonly horizon: () => number
  /** Says that events up to the horizon are missed. */
  readonly beyond: (channels: readonly Channel[], since: number, horizon: number) => void
  readonly end: AbortSignal
}

/**
 * Gives what is past of some channels, oldest first, until nothing is missing up to the head, and hands them over then.
 * Rejects as the store does.
 *
 * P1. Between the last look at the head and `join` no block can be told: nothing is missed and nothing told twice.
 * P2. A page is read when the one before is nearly sent: whoever reads slowly holds little.
 *
 * Blocks that the hub still has are taken from it, so that a head that moves fast is caught up with.
 */
export function catchUp(past: MergedPast, isReplay: boolean, client: CatchingUp): Promise<void> {
  return client.replays.withArena((arena) => inPages(past, isReplay, client, arena))
}

async function inPages(past: MergedPast, isReplay: boolean, client: CatchingUp, arena: Arena): Promise<void> {
  const { hub, replays, patience, join, room, isSent, horizon, beyond, end } = client
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
    const recent = hub.recentAfter(past.position)
    const [block] = recent ?? []
    if (block === undefined) {
      await replays.turn(async () => {
        const events = await patience(() => past.next(hub.head, arena), end)
        const wanted = new Set(past.channels)
        give(events.filter(({ channel }) => wanted.has(channel)))
        await nextTurn()
      })
    } else {
      const { position } = past
      const channels = new ChannelTable<Channel>()
      for (const channel of past.channels) channels.set(channel, channel)
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
    if (frames.length > 0) client.give(frames)
  }
}
