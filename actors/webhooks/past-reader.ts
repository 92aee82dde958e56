import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import PQueue from 'p-queue'
import { HEAP_ALLOCATOR } from '../../src/memory/arena.ts'
import type { Channel } from '../../src/stream/channel.ts'
import type { ChannelHistory } from '../../src/stream/channel-history.ts'
import { eventFrames, eventsIn, type EventMembers } from '../../src/stream/frames.ts'
import { MergedPast } from '../../src/stream/merged-past.ts'
import { LOADED_MAX } from '../../src/webhooks/backlog.ts'
import type { RetryPolicy } from '../storage/retry.ts'

/** Reads of the store at once, by all webhooks together. Chosen: as many as the replays of the stream may make. */
const READS_AT_ONCE = 4
/** Rows read together. Chosen: somewhat more than a read returns, so that few are read twice. */
const ROWS_READ = 256

/** Events of some channels in cursor order, all of those up to `to`. */
export interface PastEvents {
  readonly events: readonly EventMembers[]
  readonly to: number
}

/** Reads past events for webhooks, a few at a time. What a read found beyond its limit is read again by the next. */
export class PastReader {
  readonly #history: Pick<ChannelHistory, 'read'>
  readonly #retry: RetryPolicy
  readonly #reads = new PQueue({ concurrency: READS_AT_ONCE })

  constructor(history: Pick<ChannelHistory, 'read'>, retry: RetryPolicy) {
    this.#history = history
    this.#retry = retry
  }

  /** Number of reads that wait. */
  get waiting(): number {
    return this.#reads.size
  }

  /** Reads the oldest events after a cursor, LOADED_MAX at most. Rejects with the store's error, or when `end` aborts. */
  read(channels: readonly Channel[], after: number, until: number, end: AbortSignal): Promise<PastEvents> {
    return this.#reads.add(() => this.#read(channels, after, until, end))
  }

  async #read(
    channels: readonly Channel[],
    after: number,
    until: number,
    end: AbortSignal
  ): Promise<PastEvents> {
    const past = new MergedPast(this.#history, channels, after, { rowsHeld: ROWS_READ })
    const events: EventMembers[] = []
    while (events.length < LOADED_MAX && past.position < until) {
      end.throwIfAborted()
      const page = await this.#retry(() => past.next(until, HEAP_ALLOCATOR), end)
      events.push(
        ...page
          .flatMap(({ channel: { name }, events: own }) => eventsIn(eventFrames(name, own, false)))
          .sort((a, b) => a.cursor - b.cursor)
      )
      await yieldToEventLoop()
    }
    if (events.length <= LOADED_MAX) return { events, to: past.position }
    const first = events.slice(0, LOADED_MAX)
    return { events: first, to: first.at(-1)!.cursor }
  }
}
