import type { Channel } from '../../src/stream/channel.ts'
import type { Reader, StreamHub } from '../../src/stream/hub.ts'
import type { MergedPast } from '../../src/stream/merged-past.ts'

/** Channels of one connection that catch up together. */
export interface Group {
  readonly past: MergedPast
  readonly end: AbortController
}

interface Subscription {
  readonly channel: Channel
  /** Null where the hub tells it. */
  group: Group | null
}

/** The channels that a client has, and what each is given by: the hub, or a group that catches up. */
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

  /** In order of subscription. */
  get names(): string[] {
    return [...this.#byName.keys()]
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** Has the hub tell channels from the next block on. */
  join(channels: readonly Channel[]): void {
    for (const channel of channels) {
      this.#byName.set(channel.name, { channel, group: null })
      this.#hub.join(channel, this.#reader)
    }
  }

  /** Has a group give channels; null for one that is still to come. */
  follow(channels: readonly Channel[], group: Group | null): void {
    for (const channel of channels) this.#byName.set(channel.name, { channel, group })
  }

  /** Takes the channels that the hub tells away from it. */
  leaveHub(): Channel[] {
    const live = [...this.#byName.values()].filter(({ group }) => group === null)
    const channels = live.map(({ channel }) => channel)
    for (const channel of channels) this.#hub.leave(channel, this.#reader)
    return channels
  }

  /** Takes a channel from where it is given; false when the client has it not. */
  forget(name: string): boolean {
    const subscription = this.#byName.get(name)
    if (subscription === undefined) return false
    const { channel, group } = subscription
    this.#byName.delete(name)
    if (group === null) this.#hub.leave(channel, this.#reader)
    else {
      group.past.drop(name)
      if (group.past.channels.length === 0) group.end.abort()
    }
    return true
  }
}
