import type { ConnectionEvent } from '../../machines/connection.machine.ts'
import type { Caller } from '../../src/access/caller.ts'
import { WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import { sleep } from '../../src/ports.ts'
import { shownHead } from '../../src/market/cursor.ts'
import { BlockFrames } from '../../src/stream/block-frames.ts'
import { isOfChanges, isPrivate, type ReplayedChannel, type StreamChannel } from '../../src/stream/channel.ts'
import { eventFrames, type Frames } from '../../src/stream/frames.ts'
import { startOfSubscription } from '../../src/stream/future-cursor.ts'
import type { Reader } from '../../src/stream/hub.ts'
import { MergedPast, type PastReader } from '../../src/stream/merged-past.ts'
import * as messages from '../../src/stream/messages.ts'
import { selectedFrames, type SelectedFields } from '../../src/stream/selected-fields.ts'
import type { ChangeBatch } from '../../src/transactions/change-batch.ts'
import { catchUp } from './catch-up.ts'
import { LiveChanges } from './live-changes.ts'
import type { Sender } from './sender.ts'
import type { StreamDeps } from './stream-deps.ts'
import { Subscriptions, type Group } from './subscriptions.ts'

/** Longest poll interval of a used-up budget, in milliseconds; an operator may have raised its limit. */
const WORK_POLL_MS = 5_000

/** The connection that the channels belong to. */
export interface ChannelsOwner {
  readonly caller: Caller
  /** Reports that a replay has begun or has ended. */
  change(event: ConnectionEvent): void
  /** Reports a fault, and closes the connection for a reason that its client reads. */
  fail(fault: unknown, reason: string): void
}

/**
 * The channels of one connection: their positions, their past from the store, and their live events from the hub.
 *
 * S1. Each event of a subscription is queued once, in cursor order, whether it comes from the store or from the hub.
 * S2. A replay reads from the store when the outbox is nearly empty.
 */
export class ConnectionChannels implements Reader {
  readonly #owner: ChannelsOwner
  readonly #sender: Sender
  readonly #deps: StreamDeps
  readonly #subscriptions: Subscriptions
  readonly #block = new BlockFrames()
  readonly #end = new AbortController()
  /** Selected fields by channel; none for a channel whose events are whole. */
  readonly #fields = new Map<string, readonly string[]>()
  /** Sends changes of the tenant's submissions; null if that channel is not subscribed to, and while it is replayed. */
  #changes: LiveChanges | null = null

  constructor(owner: ChannelsOwner, sender: Sender, deps: StreamDeps) {
    this.#owner = owner
    this.#sender = sender
    this.#deps = deps
    this.#subscriptions = new Subscriptions(deps.hub, this)
  }

  get size(): number {
    return this.#subscriptions.size
  }

  /** Channel names in order of subscription. */
  get names(): string[] {
    return this.#subscriptions.names
  }

  /** The channels in order of subscription. */
  get all(): StreamChannel[] {
    return this.#subscriptions.channels
  }

  has(name: string): boolean {
    return this.#subscriptions.has(name)
  }

  /** The newest cursor up to which the client has all events, or will have them once queued events are sent. */
  get shownCursor(): number {
    return Math.max(shownHead(this.#deps.hub.head), this.#changes?.position ?? 0)
  }

  /** Returns the cursor of the tenant's newest change of a submission. Rejects once the channels have ended. */
  newestChange(): Promise<number> {
    const { changes, retry } = this.#deps
    return retry(() => changes.last(this.#owner.caller.tenant), this.#end.signal)
  }

  /**
   * Subscribes to channels, or restarts their subscriptions: live ones from the next block on, changes of submissions after
   * a cursor. Channels with a past wait for `replay`.
   */
  subscribe(
    live: readonly StreamChannel[],
    past: readonly ReplayedChannel[],
    changesAfter: number | null
  ): void {
    const all = [...live, ...past]
    for (const { name } of all) this.#subscriptions.forget(name)
    if (all.some(isOfChanges)) this.#endChanges()
    this.#subscriptions.join(live)
    if (changesAfter !== null) this.#beginChanges(changesAfter)
    this.#subscriptions.follow(past, null)
  }

  /** Selects the fields of the events of channels that the client has subscribed to; null for all. */
  select(names: readonly string[], fields: SelectedFields): void {
    for (const name of names) {
      if (fields === null || !this.has(name)) this.#fields.delete(name)
      else this.#fields.set(name, fields)
    }
  }

  /** Divides channels into those within the limit of a connection, and those beyond. A channel that it has costs nothing. */
  withinLimit(channels: readonly StreamChannel[]): {
    readonly within: readonly StreamChannel[]
    readonly beyond: readonly StreamChannel[]
  } {
    let left = messages.CHANNELS_MAX - this.size
    const [within, beyond]: [StreamChannel[], StreamChannel[]] = [[], []]
    for (const channel of channels) {
      if (this.has(channel.name) || left-- > 0) within.push(channel)
      else beyond.push(channel)
    }
    return { within, beyond }
  }

  /** Returns those of the names that the client had subscribed to. */
  unsubscribe(names: readonly string[]): string[] {
    const removed = [...new Set(names)].filter((name) => this.#subscriptions.forget(name))
    for (const name of removed) this.#fields.delete(name)
    if (removed.includes('tx')) this.#endChanges()
    return removed
  }

  /**
   * Sends the events of channels since a cursor, then live ones. A cursor slightly ahead of the head is waited for; with a
   * later one the channels are live at once.
   */
  replay(channels: readonly ReplayedChannel[], since: number): void {
    const { head } = this.#deps.hub
    if (since <= head) return this.#catchUp(channels, since, true)
    const start = startOfSubscription(since, head)
    const after = start === since ? since : this.shownCursor
    this.#send(messages.aheadOfHead(namesOf(channels), since, this.shownCursor, after))
    this.#send(messages.replayComplete(this.shownCursor, namesOf(channels)))
    this.#catchUp(channels, start, false)
  }

  owe(frames: Frames): boolean {
    return this.#block.add(frames)
  }

  endBlock(): void {
    const parts = this.#block.take()
    if (parts !== null) this.#give(parts)
  }

  missed(after: number): void {
    this.#block.take()
    const channels = this.#subscriptions.leaveHub()
    const changesSince = this.#changes?.position ?? after
    this.#endChanges()
    if (channels.length > 0) this.#catchUp(channels, after, false, changesSince)
  }

  /**
   * Sends an event of a private channel without a past, if the client has subscribed to it. `body` is its data as that of
   * EncodedEvent. Its cursor moves no client back, and several events may share one.
   */
  publish(channel: string, body: Uint8Array): void {
    if (!this.#subscriptions.has(channel)) return
    this.#give([eventFrames(channel, [{ cursor: this.shownCursor, body }], false)])
  }

  /** Sends changes of the tenant's submissions that were stored just now, if the client has subscribed to them. */
  hear(batch: ChangeBatch): void {
    this.#changes?.hear(batch)
  }

  /** Reads changes of the tenant's submissions from the store that were not announced. */
  lookForChanges(): void {
    this.#changes?.look()
  }

  /** Ends all subscriptions and replays. */
  end(): void {
    this.#end.abort()
    for (const name of this.#subscriptions.names) this.#subscriptions.forget(name)
    this.#endChanges()
  }

  #catchUp(
    channels: readonly ReplayedChannel[],
    since: number,
    isReplay: boolean,
    changesSince = since
  ): void {
    const { hub, horizon, replays, retry } = this.#deps
    const end = new AbortController()
    const stop = (): void => end.abort()
    this.#end.signal.addEventListener('abort', stop, { once: true })
    const group: Group = { past: new MergedPast(this.#past, channels, since, { changesSince }), end }
    this.#subscriptions.follow(channels, group)
    this.#owner.change({ type: 'replay.begun' })
    const join = (joined: readonly ReplayedChannel[]): void => {
      this.#subscriptions.join(joined)
      if (joined.some(isOfChanges)) this.#beginChanges(group.past.changesTo!)
      if (isReplay) this.#send(messages.replayComplete(this.shownCursor, namesOf(joined)))
    }
    const beyond = (left: readonly ReplayedChannel[], from: number, first: number): void =>
      this.#send(messages.beyondHorizon(namesOf(left), from, first))
    const client = {
      hub,
      replays,
      tenant: this.#owner.caller.tenant,
      retry,
      join,
      room: () => this.#sender.room(),
      workLeft: () => this.#workLeft(end.signal),
      charge: (events: number) => {
        const units = Math.ceil(events * WORK_PRICES.event)
        this.#deps.budget.charge(this.#owner.caller, units, this.#deps.clock.now())
      },
      isSent: () => this.#sender.isSent,
      give: (parts: readonly Frames[]) => this.#give(parts),
      horizon: () => horizon.cursor,
      beyond,
      end: end.signal
    }
    void catchUp(group.past, isReplay, client)
      .catch((fault: unknown) => {
        if (!end.signal.aborted) this.#owner.fail(fault, 'the replay failed')
      })
      .finally(() => {
        this.#end.signal.removeEventListener('abort', stop)
        if (!this.#end.signal.aborted) this.#owner.change({ type: 'replay.ended' })
      })
  }

  /** Waits until the key has units of work; null if it has some. The wait ends early for a key with a new limit. */
  #workLeft(end: AbortSignal): Promise<void> | null {
    const { budget, clock } = this.#deps
    const { allowed, resetIn } = budget.look(this.#owner.caller, clock.now())
    return allowed ? null : sleep(clock, Math.min(resetIn * 1_000, WORK_POLL_MS), end)
  }

  /** The past of channels, and of the tenant's own changes. */
  get #past(): PastReader {
    const { history, changes } = this.#deps
    const { tenant } = this.#owner.caller
    return {
      read: (channel, after, until, limits) =>
        isPrivate(channel)
          ? changes.read(tenant, after, until, limits.rows)
          : history.read(channel, after, until, limits)
    }
  }

  #beginChanges(after: number): void {
    this.#endChanges()
    const { hub, changes, retry } = this.#deps
    this.#changes = new LiveChanges(
      {
        tenant: this.#owner.caller.tenant,
        hub,
        history: changes,
        retry,
        room: () => this.#sender.room(),
        give: (frames) => this.#give([frames]),
        failed: (fault) => this.#owner.fail(fault, 'the changes of submissions could not be read')
      },
      after
    )
  }

  #endChanges(): void {
    this.#changes?.end()
    this.#changes = null
  }

  /** Queues frames. A fault closes this connection only, and does not disturb the block of others (T1 of the tenants). */
  #give(more: readonly Frames[]): void {
    if (this.#end.signal.aborted) return
    // Events of the blocks being published come first.
    const owed = this.#block.take()
    const parts = owed === null ? more : [...owed, ...more]
    try {
      this.#sender.give(this.#fields.size === 0 ? parts : parts.map((frames) => this.#selected(frames)))
    } catch (fault) {
      this.#owner.fail(fault, 'internal error')
    }
  }

  /** Returns frames of one channel with its selected fields. */
  #selected(frames: Frames): Frames {
    const fields = this.#fields.get(frames.channels[0]!)
    return fields === undefined ? frames : selectedFrames(frames, fields)
  }

  #send(message: object): void {
    this.#sender.message(message)
  }
}

/** Returns the names of channels. */
export const namesOf = (channels: readonly StreamChannel[]): string[] => channels.map(({ name }) => name)
