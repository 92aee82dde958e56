import type { Clock } from '../ports.ts'
import { afterSockets } from '../kernel/work/turns.ts'
import { callKey, type AnswerCache } from './answer-cache.ts'
import type { Commitment } from './commitment.ts'
import type { ReplyFacts } from './gateway.ts'
import type { RpcUpstreams, Unanswered, UpstreamAnswer, UpstreamCall } from './upstreams.ts'

/** An answer and its source. */
export interface SharedAnswer {
  readonly answer: UpstreamAnswer
  readonly facts: ReplyFacts
}

/** A request in flight, and the number of clients waiting for it. */
interface Joined {
  readonly answer: Promise<UpstreamAnswer>
  /** Aborts the request; null for a request that is never aborted. */
  readonly end: AbortController | null
  readonly minSlot: number
  waiting: number
}

/** A client that may disconnect before its answer. The signal is read only if a disconnect can abort work. */
export interface Leaving {
  readonly signal: AbortSignal
}

export interface ReadCounts {
  hits: number
  joined: number
  misses: number
}

/** Maximum bytes of answers that are copied into the cache before other work runs: 0.3 ms, and a longest cached answer. */
const COPIED_BYTES = 2 ** 20

/** Reads through nodes. Equal reads in flight share one request, and answers are cached as their method allows. */
export class SharedReads {
  readonly #upstreams: RpcUpstreams
  readonly #cache: AnswerCache
  readonly #clock: Pick<Clock, 'now'>
  readonly #inFlight = new Map<string, Joined>()
  readonly counts: ReadCounts = { hits: 0, joined: 0, misses: 0 }

  constructor(upstreams: RpcUpstreams, cache: AnswerCache, clock: Pick<Clock, 'now'>) {
    this.#upstreams = upstreams
    this.#cache = cache
    this.#clock = clock
  }

  /** Returns a cached answer, or undefined. */
  kept(call: UpstreamCall, key = callKey(call)): SharedAnswer | undefined {
    const { method, commitment } = call
    if (method.cache === 'none') return undefined
    const kept = this.#cache.get(key, call, this.#upstreams.newest(commitment))
    if (kept === undefined) return undefined
    this.counts.hits++
    const { bytes, slot, node, atMs } = kept
    return {
      answer: { kind: 'result', bytes, rest: null, code: null, slot, node },
      facts: { cache: 'hit', ageMs: Math.max(0, this.#clock.now() - atMs), slot }
    }
  }

  /**
   * Returns the answer to a read that is not cached, from an equal read in flight or from a node. Rejects like
   * `request`.
   */
  read(call: UpstreamCall, client: Leaving, key = callKey(call)): Promise<SharedAnswer> {
    const { isIdempotent, isShort } = call.method
    const joined = isIdempotent ? this.#inFlight.get(key) : undefined
    if (joined !== undefined) return this.#join(joined, call, client, key)
    return isIdempotent && isShort ? this.#askShort(call, key) : this.#ask(call, key, client.signal)
  }

  async #join(joined: Joined, call: UpstreamCall, client: Leaving, key: string): Promise<SharedAnswer> {
    const answer = await (joined.end === null ? joined.answer : this.#wait(joined, joined.end, client.signal))
    // A long answer has only one reader. An answer older than the client's floor must not be shared.
    const isOld = (answer.slot ?? joined.minSlot) < call.minSlot
    if (answer.rest !== null || isOld) return this.#ask(call, key, client.signal)
    this.counts.joined++
    return { answer, facts: { cache: 'joined', ageMs: null, slot: answer.slot } }
  }

  /** Reads several answers. Uncached ones go to the node as one batch. A long answer is read and cached in pieces. */
  async readAll(
    calls: readonly UpstreamCall[],
    signal: AbortSignal,
    runPiece = afterSockets
  ): Promise<readonly (SharedAnswer | Unanswered)[]> {
    const results = calls.map((call) => this.kept(call))
    const open = calls.flatMap((call, at) => (results[at] === undefined ? [{ call, at }] : []))
    if (open.length === 0) return results as SharedAnswer[]
    // Equal reads of one batch are sent to the node once.
    const byKey = Map.groupBy(open, ({ call }) => callKey(call))
    const groups = [...byKey].map(([key, same]) => ({
      key,
      same,
      call: strictest(same.map(({ call }) => call))
    }))
    const before = groups.map(({ call }) => this.#upstreams.newest(call.commitment))
    const answers = await this.#upstreams.requestAll(
      groups.map(({ call }) => call),
      signal,
      runPiece
    )
    const all: (SharedAnswer | Unanswered | undefined)[] = results
    let copied = 0
    for (const [index, { key, same, call }] of groups.entries()) {
      const answer = answers[index]!
      if (answer instanceof Error) for (const { at } of same) all[at] = answer
      else {
        if (answer.rest === null) this.#keep(key, call, answer, before[index]!)
        copied += answer.bytes.length
        if (copied > COPIED_BYTES) {
          copied = 0
          await runPiece(async () => undefined)
        }
        this.counts.misses++
        this.counts.joined += same.length - 1
        for (const { at } of same)
          all[at] = { answer, facts: { cache: 'miss', ageMs: null, slot: answer.slot } }
      }
    }
    return all as (SharedAnswer | Unanswered)[]
  }

  /** The newest slot that counts as reached by a node (`RpcUpstreams.reached`). */
  reached(commitment: Commitment): number {
    return this.#upstreams.reached(commitment)
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  /**
   * Requests a short answer. The request is not aborted when clients disconnect, because that would close the
   * connection to the node.
   */
  #askShort(call: UpstreamCall, key: string): Promise<SharedAnswer> {
    this.counts.misses++
    const before = this.#upstreams.newest(call.commitment)
    const answer = this.#upstreams.request(call, null)
    const joined: Joined = { answer, end: null, minSlot: call.minSlot, waiting: 0 }
    this.#inFlight.set(key, joined)
    return answer.then(
      (got) => {
        this.#settled(key, joined)
        if (got.rest === null) this.#keep(key, call, got, before)
        return missOf(got)
      },
      (error: unknown) => {
        this.#settled(key, joined)
        throw error
      }
    )
  }

  async #ask(call: UpstreamCall, key: string, signal: AbortSignal): Promise<SharedAnswer> {
    this.counts.misses++
    const before = this.#upstreams.newest(call.commitment)
    if (!call.method.isIdempotent) return missOf(await this.#upstreams.request(call, signal))
    const end = new AbortController()
    const request = this.#upstreams.request(call, end.signal)
    const joined: Joined = { answer: request, end, minSlot: call.minSlot, waiting: 0 }
    // If a read of a newer slot replaces this request, later reads join the newer one.
    this.#inFlight.set(key, joined)
    const settled = (): void => this.#settled(key, joined)
    request.then(settled, settled)
    const answer = await this.#wait(joined, end, signal)
    if (answer.rest === null) this.#keep(key, call, answer, before)
    return missOf(answer)
  }

  #settled(key: string, joined: Joined): void {
    if (this.#inFlight.get(key) === joined) this.#inFlight.delete(key)
  }

  /** Waits for a request in flight, which is aborted when no client waits for it. */
  #wait(joined: Joined, end: AbortController, signal: AbortSignal): Promise<UpstreamAnswer> {
    joined.waiting++
    return new Promise<UpstreamAnswer>((resolve, reject) => {
      const leave = (): void => {
        if (--joined.waiting === 0) end.abort(signal.reason)
        reject(signal.reason as Error)
      }
      if (signal.aborted) return leave()
      signal.addEventListener('abort', leave, { once: true })
      joined.answer.then(
        (answer) => {
          signal.removeEventListener('abort', leave)
          resolve(answer)
        },
        (error: Error) => {
          signal.removeEventListener('abort', leave)
          reject(error)
        }
      )
    })
  }

  #keep(key: string, call: UpstreamCall, answer: UpstreamAnswer, before: number | null): void {
    this.#cache.keep(key, call, answer, before, this.#upstreams.newest('finalized'))
  }
}

const missOf = (answer: UpstreamAnswer): SharedAnswer => ({
  answer,
  facts: { cache: 'miss', ageMs: null, slot: answer.slot }
})

const strictest = (calls: readonly UpstreamCall[]): UpstreamCall =>
  calls.reduce((strict, call) => (call.minSlot > strict.minSlot ? call : strict))
