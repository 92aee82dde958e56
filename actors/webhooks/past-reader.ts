import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { HEAP_ALLOCATOR } from '../../src/kernel/memory/arena.ts'
import type { Channel } from '../../src/stream/channel.ts'
import type { ChannelHistory } from '../../src/stream/channel-history.ts'
import { eventFrames, eventsIn, type EventMembers } from '../../src/stream/frames.ts'
import { MergedPast } from '../../src/stream/merged-past.ts'
import { LOADED_MAX } from '../../src/webhooks/backlog.ts'
import type { RunPiece, TakeTurns } from '../../src/kernel/work/turns.ts'
import type { RetryPolicy } from '../storage/retry.ts'

/** Rows read together: somewhat more than a read returns, so that few are read twice. */
const ROWS_READ = 256

/** Channels, and the tenant whose turns their reads take. */
export interface TenantChannels {
  readonly tenant: string
  readonly channels: readonly Channel[]
}

/** Events of some channels in cursor order, all of those up to `to`. */
export interface PastEvents {
  readonly events: readonly EventMembers[]
  readonly to: number
}

/**
 * Reads past events for webhooks, in the turns of their tenants. What a read found beyond its limit is read again by the
 * next.
 */
export class PastReader {
  readonly #history: Pick<ChannelHistory, 'read'>
  readonly #turns: TakeTurns
  readonly #retry: RetryPolicy
  #reading = 0

  constructor(history: Pick<ChannelHistory, 'read'>, turns: TakeTurns, retry: RetryPolicy) {
    this.#history = history
    this.#turns = turns
    this.#retry = retry
  }

  /** Number of webhooks whose past is being read, or waits for that. */
  get reading(): number {
    return this.#reading
  }

  /** Reads the oldest events after a cursor, LOADED_MAX at most. Rejects with the store's error, or when `end` aborts. */
  async read(of: TenantChannels, after: number, until: number, end: AbortSignal): Promise<PastEvents> {
    this.#reading++
    try {
      return await this.#read(of, after, until, end)
    } finally {
      this.#reading--
    }
  }

  async #read(
    { tenant, channels }: TenantChannels,
    after: number,
    until: number,
    end: AbortSignal
  ): Promise<PastEvents> {
    const options = { signal: end, isPatient: true }
    const runPiece: RunPiece = (piece) => this.#turns.run(tenant, piece, options)
    const past = new MergedPast(this.#history, channels, after, { rowsHeld: ROWS_READ })
    const events: EventMembers[] = []
    while (events.length < LOADED_MAX && past.position < until) {
      end.throwIfAborted()
      // While the store does not answer, no turn is held.
      const page = await this.#retry(() => past.next(until, HEAP_ALLOCATOR, runPiece), end)
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
