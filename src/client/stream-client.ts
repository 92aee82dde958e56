import type { Channel } from './events.ts'
import { settingsOf, type ConnectOptions } from './options.ts'
import { Subscription } from './subscription.ts'

/** Channels of a connection, and connections of a key: the limits of the service. */
const CHANNELS_MAX = 50
const CONNECTIONS_MAX = 20

/** Options of a subscription. */
export interface SubscribeOptions {
  /** The cursor of the last event that was processed: the events after it come first. Null for live events alone. */
  readonly since?: number | null | undefined
  /**
   * Names of the fields of `data` that are sent; all by default. `kind` comes too where events have one. The type of `data` has
   * all fields in any case.
   */
  readonly fields?: readonly string[] | null | undefined
}

/** A client of the stream. */
export interface Client {
  /**
   * Subscribes to live events, or to the events after the cursor `since` and then live ones. Each subscription has
   * its own connection, and reconnects until it is left or closed. Throws TypeError if the service would refuse the
   * subscription: no channel, more than 50 channels, or more than 20 subscriptions at once.
   */
  subscribe<const C extends Channel>(channels: readonly C[], options?: SubscribeOptions): Subscription<C>
  /** Ends all subscriptions. */
  close(): void
}

/**
 * Returns a client of the stream, for browsers and Node 20 or later. Connects with the first `subscribe`. Throws TypeError
 * when `url` is not a URL, or when the platform has no `WebSocket` (Node 20) and the options name none.
 */
export function connect(options: ConnectOptions): Client {
  const settings = settingsOf(options)
  const open = new Set<Subscription>()
  return {
    subscribe(channels, { since = null, fields = null } = {}) {
      const names = [...new Set(channels)]
      if (names.length === 0 || names.length > CHANNELS_MAX)
        throw new TypeError(`a subscription has 1 to ${CHANNELS_MAX} channels, not ${names.length}`)
      if (open.size === CONNECTIONS_MAX)
        throw new TypeError(`${CONNECTIONS_MAX} subscriptions are open, which is all that a key can have`)
      if (since !== null && !(Number.isSafeInteger(since) && since >= 0))
        throw new TypeError(`${since} is not a cursor`)
      const subscription = new Subscription(settings, names, { since, fields }, () => open.delete(kept))
      const kept = subscription as Subscription
      open.add(kept)
      return subscription
    },
    close() {
      for (const subscription of [...open]) subscription.close()
    }
  }
}
