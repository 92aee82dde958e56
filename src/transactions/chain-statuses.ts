import { TimedCache, type Timed } from '../kernel/memory/timed-cache.ts'
import { hasNoHistory, NodeError } from '../node/node-fault.ts'
import { withinNodeTime } from '../node/node-time.ts'
import type { Clock } from '../ports.ts'
import { HEIGHT_WAIT_MS, STATUS_WAIT_MS } from '../kernel/time-limits.ts'
import type { SignatureStatus, TransactionNode } from './ports.ts'

/** Milliseconds that an answer of the node is cached: one slot, in which no status can change. */
const CACHE_MS = 400
/** Signatures with a cached answer, about 1 MB. */
const CACHED_MAX = 2_000
/** Signatures of one request (the limit of getSignatureStatuses). */
const BATCH_MAX = 256

type Question = readonly [string, PromiseWithResolvers<SignatureStatus | null>]

/** Has the connections to nodes, which may be replaced. */
interface AskedNode {
  readonly node: Pick<TransactionNode, 'statuses' | 'height' | 'isBlockhashValid'>
}

/** Statuses of signatures on the chain, read from the node. Equal requests are sent once, others in one batch. */
export class ChainStatuses {
  readonly #nodes: AskedNode
  readonly #clock: Clock
  readonly #cached: TimedCache<SignatureStatus | null>
  readonly #height: TimedCache<number>
  #gathered: Map<string, PromiseWithResolvers<SignatureStatus | null>> | null = null

  constructor(nodes: AskedNode, clock: Clock) {
    this.#nodes = nodes
    this.#clock = clock
    this.#cached = new TimedCache(clock, { entriesMax: CACHED_MAX })
    this.#height = new TimedCache(clock, { entriesMax: 1 })
  }

  /**
   * Returns the status of a signature (base58), including the node's history; null for an unknown signature. Rejects like
   * the node's method.
   */
  status(signature: string): Promise<SignatureStatus | null> {
    return this.#cached.load(signature, async () => this.#timed(await this.#request(signature)))
  }

  /** Returns the newest block height at confirmed; null if the node does not answer. */
  async height(): Promise<number | null> {
    try {
      return await this.#height.load('', async () => {
        const { height } = await withinNodeTime(this.#clock, HEIGHT_WAIT_MS, (signal) =>
          this.#nodes.node.height(signal)
        )
        return this.#timed(height)
      })
    } catch {
      return null
    }
  }

  /** Returns whether a blockhash is still valid; null if the node does not answer. */
  async isValid(blockhash: string): Promise<boolean | null> {
    try {
      return (
        await withinNodeTime(this.#clock, HEIGHT_WAIT_MS, (signal) =>
          this.#nodes.node.isBlockhashValid(blockhash, signal)
        )
      ).isValid
    } catch {
      return null
    }
  }

  #timed<T>(value: T): Timed<T> {
    return { value, endsAtMs: this.#clock.now() + CACHE_MS }
  }

  /** Batches with the other requests of this iteration of the event loop. */
  #request(signature: string): Promise<SignatureStatus | null> {
    if (this.#gathered === null) {
      this.#gathered = new Map()
      setImmediate(() => this.#requestAll())
    }
    const question = Promise.withResolvers<SignatureStatus | null>()
    this.#gathered.set(signature, question)
    return question.promise
  }

  #requestAll(): void {
    const questions = [...this.#gathered!]
    this.#gathered = null
    for (let at = 0; at < questions.length; at += BATCH_MAX) {
      const batch = questions.slice(at, at + BATCH_MAX)
      void this.#askHistory(batch)
    }
  }

  async #askHistory(questions: readonly Question[]): Promise<void> {
    const signatures = questions.map(([signature]) => signature)
    try {
      const statuses = await withinNodeTime(this.#clock, STATUS_WAIT_MS, (signal) =>
        this.#statuses(signatures, signal)
      )
      for (const [at, [, { resolve, reject }]] of questions.entries()) {
        const status = statuses[at] ?? null
        if (status instanceof Error) reject(status)
        else resolve(status)
      }
    } catch (error) {
      for (const [, { reject }] of questions) reject(error)
    }
  }

  /**
   * Returns the statuses. Falls back to recent signatures if the node has no history. Such a node cannot distinguish
   * older signatures from unknown ones: they get the node's error. A status above the answer's own slot gets the
   * node's error too: that answer contradicts itself, and proves neither a landing nor its absence.
   */
  async #statuses(
    signatures: readonly string[],
    signal: AbortSignal
  ): Promise<readonly (SignatureStatus | Error | null)[]> {
    try {
      const { contextSlot, statuses } = await this.#nodes.node.statuses(signatures, { history: true }, signal)
      return statuses.map((status) => (isOfLaterSlot(status, contextSlot) ? wrongSlot() : status))
    } catch (error) {
      if (!hasNoHistory(error)) throw error
      const recent = await this.#nodes.node.statuses(signatures, { history: false }, signal).catch(() => null)
      return signatures.map((_, at) => {
        const status = recent?.statuses[at] ?? null
        return status === null || isOfLaterSlot(status, recent!.contextSlot) ? (error as Error) : status
      })
    }
  }
}

const isOfLaterSlot = (status: SignatureStatus | null, contextSlot: number): boolean =>
  status !== null && status.slot > contextSlot

const wrongSlot = (): NodeError =>
  new NodeError('node', {
    kind: 'garbage',
    detail: 'the slot of a status, which is above that of the answer'
  })
