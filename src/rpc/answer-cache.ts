import { hash } from 'node:crypto'
import { TimedCache } from '../kernel/memory/timed-cache.ts'
import type { Clock } from '../ports.ts'
import type { UpstreamAnswer, UpstreamCall } from './upstreams.ts'

/** A cached answer with its slot and the node that gave it. */
export interface CachedAnswer {
  readonly bytes: Buffer
  readonly slot: number | null
  readonly node: string
  readonly atMs: number
  /** The newest slot known at the call's commitment when the request was sent; null for an answer that never expires. */
  readonly untilNewerThan: number | null
}

/** Maximum bytes of a cached answer. A block of mainnet has 5 to 15 MB, and would evict thousands of other answers. */
const CACHED_BYTES_MAX = 1024 * 1024
/**
 * TTL of an answer that belongs to a slot, in milliseconds, in case no newer slot is reported. One slot: a client that
 * confirms a transaction and then requests a blockhash must get a new one, as from a node.
 */
const BY_SLOT_MS_MAX = 400
/** Longer keys are hashed. */
const KEY_LENGTH_MAX = 200

/** Caches two kinds of answers: immutable ones, and those of a slot until a newer slot is known at their commitment. */
export class AnswerCache {
  readonly #clock: Pick<Clock, 'now'>
  readonly #cache: TimedCache<CachedAnswer>

  constructor(bytesMax: number, clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#cache = new TimedCache(clock, { bytesMax })
  }

  get bytes(): number {
    return this.#cache.bytes
  }

  get size(): number {
    return this.#cache.size
  }

  /** Returns a valid cached answer, or undefined. `newest` is the newest slot at the call's commitment. */
  get(
    key: string,
    { minSlot }: Pick<UpstreamCall, 'minSlot'>,
    newest: number | null
  ): CachedAnswer | undefined {
    const cached = this.#cache.get(key)
    if (cached === undefined || cached.untilNewerThan === null) return cached
    const isOld =
      newest === null || newest > cached.untilNewerThan || (cached.slot ?? cached.untilNewerThan) < minSlot
    if (!isOld) return cached
    if (newest !== null && newest > cached.untilNewerThan) this.#cache.delete(key)
    return undefined
  }

  /**
   * Caches a complete answer if its method allows it. `newestBefore` is the newest slot at the call's commitment when
   * the request was sent. `finalized` is the newest finalized slot.
   */
  keep(
    key: string,
    call: UpstreamCall,
    answer: Pick<UpstreamAnswer, 'kind' | 'bytes' | 'slot' | 'node'>,
    newestBefore: number | null,
    finalized: number | null
  ): void {
    const { bytes, slot, node } = answer
    if (answer.kind === 'error' || bytes.length > CACHED_BYTES_MAX) return
    const untilNewerThan = this.#end(call, answer, newestBefore, finalized)
    if (untilNewerThan === undefined) return
    // A slice would retain the node's whole answer in memory.
    const own = Buffer.allocUnsafeSlow(bytes.length)
    bytes.copy(own)
    const atMs = this.#clock.now()
    this.#cache.set(key, {
      value: { bytes: own, slot, node, atMs, untilNewerThan },
      endsAtMs: untilNewerThan === null ? Infinity : atMs + BY_SLOT_MS_MAX,
      bytes: own.length + key.length
    })
  }

  /** Returns the slot after which an answer is stale; null if never, undefined for an answer that is not cached. */
  #end(
    { method, commitment, params }: UpstreamCall,
    { bytes, slot }: Pick<UpstreamAnswer, 'bytes' | 'slot'>,
    newestBefore: number | null,
    finalized: number | null
  ): number | null | undefined {
    if (method.cache === 'none') return undefined
    if (method.cache === 'by-slot') {
      const of = slot ?? newestBefore
      // An answer of a slot older than the newest known one is already stale.
      return of === null || newestBefore === null || of < newestBefore ? undefined : of
    }
    if (bytes.length === 4 && bytes.toString('latin1') === 'null') return undefined
    if (method.refusesProcessed) return commitment === 'finalized' ? null : undefined
    // Until a slot is finalized, another fork may change its block time.
    const asked = /^\[\s*(\d+)\s*\]$/.exec(params ?? '')?.[1]
    if (asked === undefined) return null
    return finalized !== null && Number(asked) <= finalized ? null : undefined
  }
}

/** Returns the key of equal calls: the method, and the params without white space between their tokens. */
export function callKey({ method, params }: Pick<UpstreamCall, 'method' | 'params'>): string {
  const text = `${method.name} ${compact(params ?? '')}`
  return text.length <= KEY_LENGTH_MAX ? text : `${method.name} ${hash('sha256', text, 'base64url')}`
}

/** Removes white space between the tokens of a JSON text. Numbers are not changed. */
function compact(text: string): string {
  return /\s/.test(text) ? text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1') : text
}
