import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { SecondChanceCache } from '../memory/second-chance-cache.ts'
import { NodeError } from '../node/node-fault.ts'
import type { Clock } from '../ports.ts'
import type { KnownMint, MintFacts, MintReading } from './mint-facts.ts'
import { readMints } from './mint-reader.ts'
import { ACCOUNTS_AT_ONCE } from './node-client.ts'
import type { AccountNode } from './ports.ts'

/** Milliseconds for which a reading answers without a request. Chosen: a supply is at most a dozen slots old. */
export const FRESH_MS = 5_000
/** Milliseconds after which a reading that was peeked at is read again. Chosen: 1,000 hot mints take 2 requests a second. */
export const REFRESH_MS = 10_000
/** Milliseconds for reading a batch, with a second node if the first one fails. Below the deadline of the endpoints. */
export const READ_MS = 4_000
/** Milliseconds without background reads after a failed one, so that a node that is away is not asked all the time. */
const PAUSE_MS = 1_000
/** Mints of one request, each with two accounts. */
const BATCH = ACCOUNTS_AT_ONCE / 2
/** Chosen: half of the requests in flight that the client allows, so that other reads find a place. */
const BATCHES_MAX = 4
/** Mints that may wait for clients, beyond which a read fails as busy. Chosen: 50 requests with 100 mints each. */
const URGENT_MAX = 5_000
/** Mints that may wait for a background read; further ones are dropped, and asked for again at their next use. */
const BACKGROUND_MAX = 1_000

interface Ask {
  readonly mint: Pubkey
  readonly key: string
  readonly known: Promise<KnownMint>
  readonly resolve: (known: KnownMint) => void
  readonly reject: (reason: unknown) => void
}

export interface MintDirectoryOptions {
  readonly node: AccountNode
  readonly clock: Clock
  /** Limit of the cache. */
  readonly bytesMax: number
  /** Called with the facts of each mint that was read. It must not throw. */
  readonly onFacts?: (facts: MintFacts) => void
}

/**
 * Facts of mints, cached and read in batches.
 *
 * D1. A mint is asked for once at a time: whoever else wants it waits for the same answer.
 * D2. Mints that clients wait for go before those of the background.
 * D3. A failed read leaves what is cached; `read` returns that with its age, and rejects without it.
 */
export class MintDirectory {
  readonly #node: AccountNode
  readonly #clock: Clock
  readonly #onFacts: (facts: MintFacts) => void
  readonly #cache: SecondChanceCache<KnownMint>
  /** Mints that wait or are being read. */
  readonly #asks = new Map<string, Ask>()
  readonly #urgent = new Map<string, Ask>()
  readonly #background = new Map<string, Ask>()
  readonly #closing = new AbortController()
  #batches = 0
  #isScheduled = false
  #pausedUntilMs = -Infinity
  /** Background reads that were dropped because too many waited. */
  dropped = 0
  /** Batches that failed. */
  failed = 0

  constructor({ node, clock, bytesMax, onFacts = () => undefined }: MintDirectoryOptions) {
    this.#node = node
    this.#clock = clock
    this.#onFacts = onFacts
    this.#cache = new SecondChanceCache(bytesMax)
  }

  get size(): number {
    return this.#cache.size
  }

  get bytes(): number {
    return this.#cache.bytes
  }

  /** Mints that wait for a request. */
  get waiting(): number {
    return this.#urgent.size + this.#background.size
  }

  /** Returns the cached reading of a mint, whatever its age, without a request; null without one. */
  peek(mint: Pubkey): KnownMint | null {
    return this.#cache.get(pubkeyMapKey(mint)) ?? null
  }

  /** Has a mint read in the background if it is not cached, or not fresh. Never waits, never throws. */
  refresh(mint: Pubkey): void {
    const key = pubkeyMapKey(mint)
    const known = this.#cache.get(key)
    const now = this.#clock.now()
    if (known !== undefined && now - known.readAtMs < REFRESH_MS) return
    if (now < this.#pausedUntilMs || this.#asks.has(key) || this.#closing.signal.aborted) return
    if (this.#background.size >= BACKGROUND_MAX) {
      this.dropped++
      return
    }
    this.#background.set(key, this.#ask(mint, key))
    this.#schedule()
  }

  /**
   * Returns the readings of mints in the order given, each at most `FRESH_MS` old, or as old as it is cached while the node
   * fails. Rejects with NodeError where nothing is cached.
   */
  async read(mints: readonly Pubkey[]): Promise<readonly KnownMint[]> {
    const asked = mints.map((mint) => this.#freshOrAsked(mint))
    return Promise.all(asked)
  }

  /** Ends the reads; those who wait get NodeError. */
  close(): void {
    this.#closing.abort(new NodeError('node', { kind: 'unreachable', detail: 'the process ends' }))
    const waiting = [...this.#urgent.values(), ...this.#background.values()]
    this.#urgent.clear()
    this.#background.clear()
    for (const ask of waiting) this.#reject(ask, this.#closing.signal.reason)
  }

  async #freshOrAsked(mint: Pubkey): Promise<KnownMint> {
    const key = pubkeyMapKey(mint)
    const known = this.#cache.get(key)
    if (known !== undefined && this.#clock.now() - known.readAtMs < FRESH_MS) return known
    try {
      return await this.#urgently(mint, key)
    } catch (error) {
      if (known === undefined || !(error instanceof NodeError)) throw error
      return known
    }
  }

  async #urgently(mint: Pubkey, key: string): Promise<KnownMint> {
    if (this.#closing.signal.aborted) throw this.#closing.signal.reason
    const running = this.#asks.get(key)
    if (running !== undefined && !this.#background.has(key)) return running.known
    if (this.#urgent.size >= URGENT_MAX)
      throw new NodeError('node', { kind: 'busy', waiting: this.#urgent.size })
    const ask = running ?? this.#ask(mint, key)
    this.#background.delete(key)
    this.#urgent.set(key, ask)
    this.#schedule()
    return ask.known
  }

  #ask(mint: Pubkey, key: string): Ask {
    const { promise: known, resolve, reject } = Promise.withResolvers<KnownMint>()
    // In the background nobody waits for it.
    known.catch(() => undefined)
    const ask = { mint, key, known, resolve, reject }
    this.#asks.set(key, ask)
    return ask
  }

  /** Starts batches after the requests that arrived together have asked for their mints. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#batches < BATCHES_MAX && this.waiting > 0) void this.#run(this.#take())
    })
  }

  /** Takes the mints of the next request, those of clients first. */
  #take(): Ask[] {
    const taken: Ask[] = []
    for (const queue of [this.#urgent, this.#background])
      for (const [key, ask] of queue) {
        if (taken.length === BATCH) return taken
        queue.delete(key)
        taken.push(ask)
      }
    return taken
  }

  async #run(asks: readonly Ask[]): Promise<void> {
    this.#batches++
    const end = new AbortController()
    const late = new NodeError('node', { kind: 'timeout', afterMs: READ_MS })
    const timer = this.#clock.setTimeout(() => end.abort(late), READ_MS)
    try {
      const signal = AbortSignal.any([end.signal, this.#closing.signal])
      const { slot, readings } = await readMints(
        this.#node,
        asks.map(({ mint }) => mint),
        signal
      )
      const readAtMs = this.#clock.now()
      for (const [at, ask] of asks.entries()) this.#resolve(ask, { reading: readings[at]!, slot, readAtMs })
    } catch (error) {
      this.failed++
      this.#pausedUntilMs = this.#clock.now() + PAUSE_MS
      for (const ask of asks) this.#reject(ask, error)
    } finally {
      this.#clock.clearTimeout(timer)
      this.#batches--
      if (this.waiting > 0) this.#schedule()
    }
  }

  #resolve(ask: Ask, known: KnownMint): void {
    this.#asks.delete(ask.key)
    const cached = this.#cache.get(ask.key)
    // A node that lags behind the one asked before knows nothing newer.
    const newest = cached !== undefined && cached.slot > known.slot ? cached : known
    if (newest === known) {
      this.#cache.set(ask.key, known, bytesOf(known.reading))
      if (known.reading.kind === 'facts') this.#onFacts(known.reading)
    }
    ask.resolve(newest)
  }

  #reject(ask: Ask, reason: unknown): void {
    this.#asks.delete(ask.key)
    ask.reject(reason)
  }
}

/** Estimated bytes of a reading: its objects and keys, and its texts of two bytes a character. */
function bytesOf(reading: MintReading): number {
  if (reading.kind === 'refused') return 100
  const { names, account } = reading
  const texts = names === null ? 0 : names.name.length + names.symbol.length + names.uri.length
  const features = account.extensions.length === 0 ? 0 : 600
  return 900 + features + 2 * texts
}
