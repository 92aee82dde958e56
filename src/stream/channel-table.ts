import { channelKey, type Channel } from './channel.ts'

type Kind = Channel['kind']

/** A table with one value for each of several channels, looked up by the attributes of an event. */
export class ChannelTable<T> {
  readonly #kinds: Readonly<Record<Kind, Map<string, T>>> = {
    trades: new Map(),
    price: new Map(),
    pool: new Map(),
    wallet: new Map(),
    venue: new Map(),
    launches: new Map(),
    pools: new Map(),
    curves: new Map()
  }

  get size(): number {
    return Object.values(this.#kinds).reduce((sum, { size }) => sum + size, 0)
  }

  get(channel: Channel): T | undefined {
    return this.#kinds[channel.kind].get(channelKey(channel))
  }

  set(channel: Channel, value: T): void {
    this.#kinds[channel.kind].set(channelKey(channel), value)
  }

  delete(channel: Channel): void {
    this.#kinds[channel.kind].delete(channelKey(channel))
  }

  /** Returns the values of a kind's channels, by `channelKey`; empty if no value is set. */
  of(kind: Kind): ReadonlyMap<string, T> {
    return this.#kinds[kind]
  }

  *[Symbol.iterator](): Generator<T> {
    for (const kind of Object.values(this.#kinds)) yield* kind.values()
  }
}
