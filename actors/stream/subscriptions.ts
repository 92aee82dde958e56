import { isPrivate, isReplayed, type ReplayedChannel, type StreamChannel } from '../../src/stream/channel.ts'
import type { Reader, StreamHub } from '../../src/stream/hub.ts'
import type { MergedPast } from '../../src/stream/merged-past.ts'

/** Channels of one connection that are replayed together. */
export interface Group {
  readonly past: MergedPast
  readonly end: AbortController
}

interface Subscription {
  readonly channel: StreamChannel
  /** Null for a live channel. */
  group: Group | null
}

/**
 * The channels that a client has subscribed to. The hub or a replay group serves those of the chain; private channels
 * are live without them.
 */
export class Subscriptions {
  readonly #hub: StreamHub
  readonly #reader: Reader
  readonly #byName = new Map<string, Subscription>()

  constructor(hub: StreamHub, reader: Reader) {
    this.#hub = hub
    this.#reader = reader
  }

  get size(): number {
    return this.#byName.size
  }

  /** Channel names in order of subscription. */
  get names(): string[] {
    return [...this.#byName.keys()]
  }

  /** Channels in order of subscription. */
  get channels(): StreamChannel[] {
    return Array.from(this.#byName.values(), ({ channel }) => channel)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** Makes channels live: those of the chain from the hub's next block on. */
  join(channels: readonly StreamChannel[]): void {
    for (const channel of channels) {
      this.#byName.set(channel.name, { channel, group: null })
      if (!isPrivate(channel)) this.#hub.join(channel, this.#reader)
    }
  }

  /** Assigns channels to a replay group; null while the group is not created yet. */
  follow(channels: readonly ReplayedChannel[], group: Group | null): void {
    for (const channel of channels) this.#byName.set(channel.name, { channel, group })
  }

  /** Unsubscribes all live channels from the hub. Returns those whose past can be read, and `pools`. */
  leaveHub(): ReplayedChannel[] {
    const live = [...this.#byName.values()].filter(({ group }) => group === null)
    const channels = live.map(({ channel }) => channel).filter((each) => !isPrivate(each) || isReplayed(each))
    for (const channel of channels) if (!isPrivate(channel)) this.#hub.leave(channel, this.#reader)
    return channels
  }

  /** Removes a channel. Returns false if the client has not subscribed to it. */
  forget(name: string): boolean {
    const subscription = this.#byName.get(name)
    if (subscription === undefined) return false
    const { channel, group } = subscription
    this.#byName.delete(name)
    if (group === null) {
      if (!isPrivate(channel)) this.#hub.leave(channel, this.#reader)
    } else {
      group.past.drop(name)
      if (group.past.channels.length === 0) group.end.abort()
    }
    return true
  }
}
