import type { ConnectOptions } from './options.ts'

/** Options of one call. */
export interface RequestOptions {
  /** Ends the call, with its waits and retries. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of one attempt in milliseconds; that of the client by default. `signal` limits a call as a whole. */
  readonly timeoutMs?: number | undefined
  /** Maximum number of retries; that of the client by default. With 0 the call never waits for a quota either. */
  readonly retries?: number | undefined
  /**
   * Makes a change once, whatever is lost and repeated: within 24 hours, calls with one key get the first answer. A random
   * one for each call by default; none for `tx.send` and bundles, which the service knows by their signatures. Pass a stored one to repeat a change after a crash of your own program.
   */
  readonly idempotencyKey?: string | undefined
}

/** The clock of a client. */
export interface Clock {
  now(): number
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** Options of `createMillrace`. */
export interface MillraceOptions extends Pick<
  ConnectOptions,
  'key' | 'bufferEvents' | 'onNotice' | 'WebSocket' | 'random'
> {
  /** URL of the service, `http:` or `https:`, with the path of a proxy if there is one. */
  readonly url: string
  /** Timeout of an attempt in milliseconds; 35,000 by default: the service answers each change within 30 s. */
  readonly timeoutMs?: number
  /** Maximum number of retries of a call; 2 by default. */
  readonly retries?: number
  /** The platform's by default. */
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: Clock
}

/** Options with the defaults of the platform. */
export interface RequestSettings {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: string
  readonly timeoutMs: number
  readonly retries: number
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
  readonly random: () => number
  readonly onNotice: NonNullable<ConnectOptions['onNotice']>
}

/** The service ends a change within 30 s and a test of a webhook within 25 s; the network takes the rest. */
const TIMEOUT_MS = 35_000
/** With their waits, two retries outlast a restart of the service. */
const RETRIES = 2

/** Completes options with the defaults of the platform. Throws TypeError for a `url` that is not one of HTTP. */
export function requestSettingsOf(options: MillraceOptions): RequestSettings {
  const address = new URL(options.url)
  if (!/^https?:$/.test(address.protocol))
    throw new TypeError(`url must begin with http: or https:, not with ${address.protocol}`)
  return {
    url: `${address.origin}${address.pathname.replace(/\/+$/, '')}`,
    key: options.key,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries ?? RETRIES,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    clock: options.clock ?? {
      now: () => Date.now(),
      setTimeout: (run, ms) => globalThis.setTimeout(run, ms),
      clearTimeout: (timer) => globalThis.clearTimeout(timer as number)
    },
    random: options.random ?? Math.random,
    onNotice: options.onNotice ?? (() => undefined)
  }
}
