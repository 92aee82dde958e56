import type { z } from 'zod'
import { nodeAddresses } from '../../../src/node/node-address.ts'
import { NodeError } from '../../../src/node/node-fault.ts'
import { RpcClient, type RpcClientOptions } from '../../../src/node/rpc-client.ts'
import type { Clock } from '../../../src/ports.ts'
import {
  engineStatuses,
  inflightAnswer,
  tipAccountsAnswer,
  type EngineStatus
} from '../../../src/transactions/engine/answers.ts'
import { OWN_TURN, type RevocableTurn, type SendTurn } from '../../../src/transactions/fair-queue.ts'
import type { SubmissionOutcome } from '../../../src/transactions/ports.ts'
import { DEFERRED_MS, isOfRegion, outcomeOf, rateRestMs } from './failed-submission.ts'
import { EngineRegion, RegionTurns, type EngineWork } from './region-turns.ts'

export interface EngineClientOptions {
  /** Base URLs of the regions, nearest first. */
  readonly urls: readonly string[]
  /** UUID of the operator; null if requests carry none. */
  readonly auth: string | null
  /** Requests a second that a region allows. */
  readonly requestsPerSecond: number
  readonly clock: Clock
  readonly client?: Partial<RpcClientOptions>
}

const BUNDLES = '/api/v1/bundles'
const TRANSACTIONS = '/api/v1/transactions'
/** Maximum bytes of an answer: far above five statuses with errors. */
const BODY_BYTES_MAX = 256 * 1024
const TIMEOUT_MS = 5_000
/**
 * Timeout of a submission to a region whose last one failed, in milliseconds: the submission waits for so long before its
 * next region.
 */
const TRIAL_TIMEOUT_MS = 1_000
/**
 * The block engine's JSON interface, over all of its regions.
 *
 * E1. A submission goes to one region after another until one has accepted it, or refused it for good. That is safe after a
 *     lost answer too: the chain executes a signature once, so a second region's copy changes nothing.
 * E2. A read goes to the next region after any fault.
 * E3. Regions are tried in their listed order, those with recent failures last (`RegionHealth`).
 * E4. Each region gets at most its requests a second, in the order of `FairQueue`. A region that refuses for its rate gets
 *     no requests for the time that it states.
 */
export class EngineClient {
  readonly #regions: readonly EngineRegion[]
  readonly #turns: RegionTurns
  readonly #clock: Clock
  readonly #timeoutMs: number

  constructor({ urls, auth, requestsPerSecond, clock, client }: EngineClientOptions) {
    const options: Partial<RpcClientOptions> = {
      timeoutMs: TIMEOUT_MS,
      bodyBytesMax: BODY_BYTES_MAX,
      compressed: false,
      ...(auth !== null && { headers: { 'x-jito-auth': auth } }),
      ...client,
      // The turns keep the rate.
      requestsPerSecond: Infinity
    }
    this.#regions = nodeAddresses(urls).map(
      (address) => new EngineRegion(new RpcClient(address, clock, options), requestsPerSecond)
    )
    this.#turns = new RegionTurns(this.#regions, clock)
    this.#clock = clock
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  }

  get regions(): number {
    return this.#regions.length
  }

  /** Requests sent since the start. */
  get sent(): number {
    return this.#regions.reduce((sum, { client }) => sum + client.sent, 0)
  }

  /** Requests that wait for a region. */
  get waiting(): number {
    return this.#turns.waiting
  }

  /** Submits a bundle. Rejects only with the signal's reason, or with an error of the turn's `begin`. */
  sendBundle(
    wires: readonly Uint8Array[],
    signal: AbortSignal,
    turn: RevocableTurn = OWN_TURN
  ): Promise<SubmissionOutcome> {
    const params = (): unknown[] => [
      wires.map((wire) => Buffer.from(wire).toString('base64')),
      { encoding: 'base64' }
    ]
    return this.#submit({ path: BUNDLES, method: 'sendBundle', params, signal, turn })
  }

  /**
   * Submits a transaction; with `bundleOnly` as a bundle of one, which lands only if it succeeds. Rejects like
   * `sendBundle`.
   */
  sendTransaction(
    wire: Uint8Array,
    bundleOnly: boolean,
    signal: AbortSignal,
    turn: RevocableTurn = OWN_TURN
  ): Promise<SubmissionOutcome> {
    const params = (): unknown[] => [Buffer.from(wire).toString('base64'), { encoding: 'base64' }]
    const path = TRANSACTIONS + (bundleOnly ? '?bundleOnly=true' : '')
    return this.#submit({ path, method: 'sendTransaction', params, signal, turn })
  }

  /** Statuses of at most five bundles, by id. Rejects with NodeError of the last region. */
  async statuses(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, EngineStatus>> {
    const turn = { ...OWN_TURN, rank: 'read' } as const
    const answer = await this.#read('getInflightBundleStatuses', [ids], inflightAnswer, signal, turn)
    return engineStatuses(answer, ids)
  }

  /** Base58 addresses. Rejects with NodeError of the last region. */
  tipAccounts(signal: AbortSignal): Promise<readonly string[]> {
    return this.#read('getTipAccounts', [], tipAccountsAnswer, signal, OWN_TURN)
  }

  async close(): Promise<void> {
    this.#turns.close()
    await Promise.all(this.#regions.map(({ client }) => client.close()))
  }

  async #submit({ path, method, params, signal, turn }: Submission): Promise<SubmissionOutcome> {
    const tried = new Set<EngineRegion>()
    const outcomes: SubmissionOutcome[] = []
    for (;;) {
      const region = await this.#turns.acquire(turn, 'submission', tried, signal)
      if (region === null) return this.#outcomeOfAll(outcomes)
      let isUnused = true
      try {
        if (tried.size === 0 && turn.begin !== undefined && !(await turn.begin()))
          return { kind: 'withdrawn' }
        tried.add(region)
        isUnused = false
        const outcome = await this.#submitTo(region, path, method, params(), signal)
        if (outcome.kind === 'accepted') return outcome
        // After a lost answer a refusal may be that of a bundle which a region has already.
        const isFinal = outcome.kind === 'refused' && !isOfRegion(outcome)
        if (isFinal) return outcomes.find(({ kind }) => kind === 'unsure') ?? outcome
        outcomes.push(outcome)
      } finally {
        if (isUnused) region.health.submission.noteNothing()
        this.#turns.release(region, { isUnused })
      }
    }
  }

  async #submitTo(
    region: EngineRegion,
    path: string,
    method: string,
    params: readonly unknown[],
    signal: AbortSignal
  ): Promise<SubmissionOutcome> {
    const { client, base, health } = region
    const timeoutMs = health.submission.isSuspect
      ? Math.min(TRIAL_TIMEOUT_MS, this.#timeoutMs)
      : this.#timeoutMs
    try {
      const { result } = await client.call(method, params, { signal, timeoutMs, path: base + path })
      health.submission.noteSuccess()
      return { kind: 'accepted', id: typeof result === 'string' ? result : null }
    } catch (error) {
      if (!(error instanceof NodeError)) {
        health.submission.noteNothing()
        throw error
      }
      const outcome = outcomeOf(error)
      this.#note(region, 'submission', error, outcome.kind === 'refused' && !isOfRegion(outcome))
      return outcome
    }
  }

  /** Returns the outcome of a submission that no region has accepted. */
  #outcomeOfAll(outcomes: readonly SubmissionOutcome[]): SubmissionOutcome {
    const unsure = outcomes.find(({ kind }) => kind === 'unsure')
    if (unsure !== undefined) return unsure
    const deferred = outcomes.filter((each) => each.kind === 'deferred')
    if (outcomes.length === this.#regions.length && deferred.length === 0) return outcomes.at(-1)!
    const { restMs } = this.#turns
    return {
      kind: 'deferred',
      detail: deferred.at(-1)?.detail ?? 'every region rests after a refusal for its rate',
      waitMs: Math.min(...deferred.map(({ waitMs }) => waitMs), restMs > 0 ? restMs : DEFERRED_MS)
    }
  }

  async #read<T>(
    method: string,
    params: readonly unknown[],
    schema: z.ZodType<T>,
    signal: AbortSignal,
    turn: SendTurn
  ): Promise<T> {
    const tried = new Set<EngineRegion>()
    let last: NodeError | null = null
    for (;;) {
      const region = await this.#turns.acquire(turn, 'read', tried, signal)
      if (region === null)
        throw last ?? new NodeError('block engine', { kind: 'throttled', restMs: this.#turns.restMs })
      tried.add(region)
      const { client, base, health } = region
      try {
        const { result } = await client.call(method, params, { signal, path: base + BUNDLES })
        const read = schema.safeParse(result)
        if (read.success) {
          health.read.noteSuccess()
          return read.data
        }
        last = new NodeError(client.name, { kind: 'garbage', detail: `no answer to ${method}` })
        health.read.noteFailure(this.#clock.now())
      } catch (error) {
        if (!(error instanceof NodeError)) {
          health.read.noteNothing()
          throw error
        }
        this.#note(region, 'read', error, false)
        last = error
      } finally {
        this.#turns.release(region)
      }
    }
  }

  /** Records a fault of a region. `isAnswer` says that it refused the request itself. */
  #note(region: EngineRegion, work: EngineWork, { fault }: NodeError, isAnswer: boolean): void {
    const nowMs = this.#clock.now()
    const health = region.health[work]
    const restMs = rateRestMs(fault)
    if (restMs !== null) {
      region.restUntilMs = nowMs + restMs
      health.noteNothing()
    } else if (isAnswer) health.noteSuccess()
    else health.noteFailure(nowMs)
  }
}

/** A submission, whose parameters are made when its turn has come. */
interface Submission {
  readonly path: string
  readonly method: string
  readonly params: () => readonly unknown[]
  readonly signal: AbortSignal
  readonly turn: RevocableTurn
}
