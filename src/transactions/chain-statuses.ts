import { hasNoHistory, NodeError } from '../node/node-fault.ts'
import type { Clock } from '../ports.ts'
import type { SignatureStatus, TransactionNode } from './ports.ts'

/** Milliseconds that an answer of the node is cached. Chosen: one slot, in which no status can change. */
const CACHE_MS = 400
/** Signatures with a cached answer, about 1 MB. Beyond it the oldest answer is evicted. */
const CACHED_MAX = 2_000
/** Signatures of one request (the limit of getSignatureStatuses). */
const BATCH_MAX = 256
/** Timeouts in milliseconds: of a status, which can need the node's archive, and of a height or a blockhash's
 * validity, which are optional. */
const STATUS_MS = 5_000
const HEIGHT_MS = 1_000

type Question = readonly [string, PromiseWithResolvers<SignatureStatus | null>]

interface CachedAnswer<T> {
  readonly answer: Promise<T>
  /** Unix milliseconds; infinite while the request is in flight. */
  untilMs: number
}

/** Statuses of signatures on the chain, read from the node. Equal requests are sent once, others in one batch. */
export class ChainStatuses {
  readonly #node: Pick<TransactionNode, 'statuses' | 'height' | 'isBlockhashValid'>
  readonly #clock: Pick<Clock, 'now'>
  readonly #cached = new Map<string, CachedAnswer<SignatureStatus | null>>()
  #gathered: Map<string, PromiseWithResolvers<SignatureStatus | null>> | null = null
  #height: CachedAnswer<number> | null = null

  constructor(
    node: Pick<TransactionNode, 'statuses' | 'height' | 'isBlockhashValid'>,
    clock: Pick<Clock, 'now'>
  ) {
    this.#node = node
    this.#clock = clock
  }

  /**
   * Returns the status of a signature (base58), also from the node's history; null for none. Rejects like the node's
   * method.
   */
  status(signature: string): Promise<SignatureStatus | null> {
    const cached = this.#cached.get(signature)
    if (cached !== undefined && cached.untilMs > this.#clock.now()) return cached.answer
    const made = this.#cache(this.#ask(signature), () => this.#cached.delete(signature))
    this.#cached.delete(signature)
    this.#cached.set(signature, made)
    if (this.#cached.size > CACHED_MAX) this.#cached.delete(this.#cached.keys().next().value!)
    return made.answer
  }

  /** Returns the newest block height at confirmed; null if the node does not answer. */
  async height(): Promise<number | null> {
    if (this.#height === null || this.#height.untilMs <= this.#clock.now()) {
      const height = this.#node.height(AbortSignal.timeout(HEIGHT_MS)).then(({ height }) => height)
      this.#height = this.#cache(height, () => (this.#height = null))
    }
    try {
      return await this.#height.answer
    } catch {
      return null
    }
  }

  /** Tells whether a blockhash is still valid; null if the node does not answer. */
  async isValid(blockhash: string): Promise<boolean | null> {
    try {
      return (await this.#node.isBlockhashValid(blockhash, AbortSignal.timeout(HEIGHT_MS))).isValid
    } catch {
      return null
    }
  }

  #cache<T>(answer: Promise<T>, forget: () => void): CachedAnswer<T> {
    const cached: CachedAnswer<T> = { answer, untilMs: Infinity }
    answer.then(() => (cached.untilMs = this.#clock.now() + CACHE_MS), forget)
    return cached
  }

  /** Batches with the other requests of this turn of the event loop. */
  #ask(signature: string): Promise<SignatureStatus | null> {
    if (this.#gathered === null) {
      this.#gathered = new Map()
      setImmediate(() => this.#askAll())
    }
    const question = Promise.withResolvers<SignatureStatus | null>()
    this.#gathered.set(signature, question)
    return question.promise
  }

  #askAll(): void {
    const questions = [...this.#gathered!]
    this.#gathered = null
    for (let at = 0; at < questions.length; at += BATCH_MAX) {
      const batch = questions.slice(at, at + BATCH_MAX)
      void this.#askHistory(batch)
    }
  }

  /**
   * Falls back to recent signatures if the node has no history. Such a node cannot tell whether older ones are
   * unknown.
   */
  async #askHistory(questions: readonly Question[]): Promise<void> {
    const signatures = questions.map(([signature]) => signature)
    try {
      const { contextSlot, statuses } = await this.#statuses(signatures, true)
      for (const [at, [, { resolve, reject }]] of questions.entries()) {
        const status = statuses[at] ?? null
        // Such an answer contradicts itself, so it states neither a landing nor its absence.
        if (status !== null && status.slot > contextSlot) reject(wrongSlot())
        else resolve(status)
      }
    } catch (error) {
      const none = { contextSlot: 0, statuses: [] }
      const { contextSlot, statuses } = hasNoHistory(error)
        ? await this.#statuses(signatures, false).catch(() => none)
        : none
      for (const [at, [, { resolve, reject }]] of questions.entries()) {
        const status = statuses[at]
        if (status === undefined || status === null || status.slot > contextSlot) reject(error)
        else resolve(status)
      }
    }
  }

  #statuses(signatures: readonly string[], history: boolean): ReturnType<TransactionNode['statuses']> {
    return this.#node.statuses(signatures, { history }, AbortSignal.timeout(STATUS_MS))
  }
}

const wrongSlot = (): NodeError =>
  new NodeError('node', {
    kind: 'garbage',
    detail: 'the slot of a status, which is above that of the answer'
  })
