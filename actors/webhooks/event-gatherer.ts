import { FLUSH_MS } from '../../machines/webhook.machine.ts'
import type { Clock } from '../../src/ports.ts'
import { BlockFrames } from '../../src/stream/block-frames.ts'
import type { Channel } from '../../src/stream/channel.ts'
import type { Frames } from '../../src/stream/frames.ts'
import type { Reader, StreamHub } from '../../src/stream/hub.ts'
import { BATCH_EVENTS_MAX, type Backlog, type BatchEvents } from '../../src/webhooks/backlog.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'

export interface GathererDeps {
  readonly hub: Pick<StreamHub, 'head' | 'join' | 'leave'>
  readonly clock: Clock
}

const NEVER = 2 ** 30

/** Gathers the events of one webhook from the hub until they are due: 64 of them, or 500 ms after the first. */
export class EventGatherer implements Reader {
  readonly backlog: Backlog
  readonly #channels: readonly Channel[]
  readonly #deps: GathererDeps
  readonly #event = new AutoResetEvent()
  readonly #block = new BlockFrames()
  /** Arrival of the oldest event that can be taken, or null. */
  #oldestAtMs: number | null = null
  /** The wait ends once this many events can be taken. While nothing waits, it is greater than any possible number. */
  #awaited = NEVER

  constructor(backlog: Backlog, channels: readonly Channel[], deps: GathererDeps) {
    this.backlog = backlog
    this.#channels = channels
    this.#deps = deps
  }

  join(): void {
    for (const channel of this.#channels) this.#deps.hub.join(channel, this)
  }

  leave(): void {
    for (const channel of this.#channels) this.#deps.hub.leave(channel, this)
  }

  owe(frames: Frames): boolean {
    return this.#block.add(frames)
  }

  endBlock(): void {
    const parts = this.#block.take()
    if (parts === null) return
    this.backlog.add(parts, this.#deps.hub.head)
    this.#oldestAtMs ??= this.#deps.clock.now()
    if (this.backlog.ready >= this.#awaited) this.#event.set()
  }

  missed(): void {
    this.#block.take()
    this.backlog.rewind(this.#deps.hub.head)
    this.#oldestAtMs ??= this.#deps.clock.now()
    this.#event.set()
  }

  /** Returns the time at which the events that can be taken are to be sent, or null. */
  dueAtMs(nowMs: number): number | null {
    const { ready } = this.backlog
    this.#oldestAtMs = ready === 0 ? null : (this.#oldestAtMs ?? nowMs)
    if (this.#oldestAtMs === null) return null
    return ready >= BATCH_EVENTS_MAX ? nowMs : this.#oldestAtMs + FLUSH_MS
  }

  /** Resolves when the first event has come, or a batch is full, or `ms` have passed, or `end` aborts, or it is woken. */
  wait(ms: number, end: AbortSignal): Promise<void> {
    // Not an async function: its frame would be a part of the memory of each idle webhook.
    this.#awaited = this.backlog.ready === 0 ? 0 : BATCH_EVENTS_MAX
    return this.sleep(ms, end)
  }

  /** Resolves when `ms` have passed, or `end` aborts, or it is woken. */
  sleep(ms: number, end: AbortSignal): Promise<void> {
    return this.#event.wait(this.#deps.clock, ms, end)
  }

  wake(): void {
    this.#event.set()
  }

  /** Takes the next batch; some event must be ready. */
  take(): BatchEvents {
    const taken = this.backlog.take()!
    this.#awaited = NEVER
    this.#oldestAtMs = this.backlog.ready > 0 ? this.#deps.clock.now() : null
    return taken
  }
}
