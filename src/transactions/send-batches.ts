import { NodeError, RPC_CODE } from '../node/node-fault.ts'
import type { RpcClient } from '../node/rpc-client.ts'
import { FairQueue, OWN_TURN, type SendTurn } from './fair-queue.ts'

/**
 * Sends in one request. A request of 64 takes a tenth of the CPU time of 64 requests, here and at a node
 * (`loadtest/transactions.ts`). A node that refuses a body of this size gets single requests.
 */
const BATCH_MAX = 64
/**
 * Characters of the transactions of one request. Agave accepts bodies of 50 KiB, and each send adds about
 * 130.
 */
const BATCH_CHARACTERS_MAX = 38 * 2 ** 10
/**
 * Maximum requests in flight at a node: 32 of 64 sends, 10,000 signatures every 2 s at a node that answers after 400
 * ms. The last ones are reserved for batches that begin with a first send, so that first sends do not wait for
 * retries.
 */
const REQUESTS_MAX = 32
const REQUESTS_FOR_FIRST = 8
/** Sends go without preflight, and without the node's own retries: the loop repeats them. */
const OPTIONS = { encoding: 'base64', skipPreflight: true, maxRetries: 0 } as const
const FOREVER = new AbortController().signal

interface Waiting {
  readonly transaction: string
  readonly turn: SendTurn
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Joins sends of one iteration of the event loop in JSON-RPC batches. Sends beyond the requests in flight wait in the order
 * of `FairQueue`. A node that refuses batches gets single requests afterwards. A send is made once.
 */
export class SendBatches {
  readonly #client: Pick<RpcClient, 'call' | 'batch'>
  readonly #queue = new FairQueue<Waiting>()
  #inFlight = 0
  #isFlushing = false
  #refusesBatches = false

  constructor(client: Pick<RpcClient, 'call' | 'batch'>) {
    this.#client = client
  }

  /** Number of queued sends. */
  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Resolves when the node has accepted it. Rejects with NodeError, or at once when `signal` aborts: a queued send is then
   * dropped.
   */
  send(transaction: string, signal: AbortSignal, turn: SendTurn = OWN_TURN): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const abort = (): void => {
        this.#queue.delete(waiting)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
      const settled =
        <T extends unknown[]>(settle: (...given: T) => void) =>
        (...given: T): void => {
          signal.removeEventListener('abort', abort)
          settle(...given)
        }
      const waiting = { transaction, turn, resolve: settled(resolve), reject: settled(reject) }
      this.#queue.push(waiting, turn)
      this.#flushSoon()
    })
  }

  #flushSoon(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    queueMicrotask(() => {
      this.#isFlushing = false
      for (let batch = this.#nextBatch(); batch.length > 0; batch = this.#nextBatch()) void this.#run(batch)
    })
  }

  /** Removes the sends of the next request from the queue; empty while the request must wait. */
  #nextBatch(): readonly Waiting[] {
    const batch: Waiting[] = []
    const places =
      this.#queue.peek()?.turn.rank === 'first' ? REQUESTS_MAX : REQUESTS_MAX - REQUESTS_FOR_FIRST
    if (this.#inFlight >= places) return batch
    const sizeMax = this.#refusesBatches ? 1 : BATCH_MAX
    let characters = 0
    for (let next = this.#queue.peek(); next !== undefined; next = this.#queue.peek()) {
      characters += next.transaction.length
      if (batch.length === sizeMax || (batch.length > 0 && characters > BATCH_CHARACTERS_MAX)) break
      batch.push(this.#queue.take()!)
    }
    return batch
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    this.#inFlight++
    await this.#batch(batch)
    this.#inFlight--
    this.#flushSoon()
  }

  async #single({ transaction, resolve, reject }: Waiting): Promise<void> {
    await this.#client
      .call('sendTransaction', [transaction, OPTIONS], { signal: FOREVER, urgent: true })
      .then(resolve, reject)
  }

  async #batch(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 1) return this.#single(batch[0]!)
    try {
      const calls = batch.map(({ transaction }) => [transaction, OPTIONS])
      const results = await this.#client.batch('sendTransaction', calls, { signal: FOREVER, urgent: true })
      for (const [at, { resolve, reject }] of batch.entries())
        if (results[at] instanceof Error) reject(results[at])
        else resolve()
    } catch (error) {
      if (isRefusal(error)) {
        this.#refusesBatches = true
        await Promise.all(batch.map((each) => this.#single(each)))
      } else for (const { reject } of batch) reject(error)
    }
  }
}

/** HTTP statuses by which a proxy refuses the body of a batch: malformed, too large, or not allowed. */
const REFUSING = [400, 405, 413, 415, 422]

/** Returns whether a node refused a whole batch, and so executed none of it. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof NodeError)) return false
  const { fault } = error
  if (fault.kind === 'http') return REFUSING.includes(fault.status)
  const codes: readonly number[] = [RPC_CODE.invalidRequest, RPC_CODE.methodNotFound, RPC_CODE.parseError]
  return fault.kind === 'rpc' && codes.includes(fault.code)
}
