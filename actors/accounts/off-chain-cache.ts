import type { KnownOffChain, OffChainReading, OffChainSource } from '../../src/accounts/ports.ts'
import type { Timed } from '../../src/kernel/memory/timed-cache.ts'
import { sleep } from '../../src/ports.ts'
import { FetchCache, type FetchCacheOptions } from './fetch-cache.ts'

/** Milliseconds for which fetched fields count as fresh; then they are served with their age, and refetched. */
export const OFF_CHAIN_FRESH_MS = 3_600_000
/** Pause after a failed fetch before the URI is retried, in milliseconds. */
export const OFF_CHAIN_RETRY_MS = 60_000
/** Milliseconds that an answer waits for URIs that are fetched for the first time. */
export const OFF_CHAIN_WAIT_MS = 500
/** Maximum URIs that wait or are being fetched. */
export const OFF_CHAIN_WAITING_MAX = 1_000
const LIMITS = { concurrency: 16, hostConcurrency: 4, waitingMax: OFF_CHAIN_WAITING_MAX } as const

/**
 * Fields behind the URIs of mints, cached and fetched in the background.
 *
 * O1. A URI is fetched once at a time, and not again for `OFF_CHAIN_RETRY_MS` after an attempt.
 * O2. An answer waits `OFF_CHAIN_WAIT_MS` at most, and only for URIs without any outcome.
 * O3. The newest success of a URI is retained by later failures, until its next fetch is due.
 */
export class OffChainCache extends FetchCache<OffChainReading, KnownOffChain> implements OffChainSource {
  constructor(options: FetchCacheOptions<OffChainReading>) {
    super(options, LIMITS)
  }

  async read(uris: readonly string[]): Promise<readonly KnownOffChain[]> {
    const firsts = uris.flatMap((uri) => {
      const flight = this.refresh(uri)
      return flight !== null && this.atAnyAge(uri) === undefined ? [flight] : []
    })
    if (firsts.length > 0) {
      const end = new AbortController()
      await Promise.race([Promise.all(firsts), sleep(this.clock, OFF_CHAIN_WAIT_MS, end.signal)])
      end.abort()
    }
    return uris.map((uri) => this.atAnyAge(uri) ?? { kind: 'pending' })
  }

  protected timed(uri: string, reading: OffChainReading): Timed<KnownOffChain> {
    const readAtMs = this.clock.now()
    const bytes = 2 * uri.length + bytesOf(reading)
    if (reading.kind === 'read')
      return { value: { ...reading, readAtMs }, endsAtMs: readAtMs + OFF_CHAIN_FRESH_MS, bytes }
    const earlier = this.atAnyAge(uri)
    const value = earlier?.kind === 'read' ? earlier : { ...reading, readAtMs }
    return { value, endsAtMs: readAtMs + OFF_CHAIN_RETRY_MS, bytes: 2 * uri.length + bytesOf(value) }
  }
}

/** Estimates the bytes of a reading: two for each character, because texts may be non-Latin. */
function bytesOf(reading: OffChainReading): number {
  if (reading.kind === 'failed') return 100
  return Object.values(reading.fields).reduce<number>(
    (sum, text: string | null) => sum + 2 * (text?.length ?? 0),
    300
  )
}
