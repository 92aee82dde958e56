import { NodeError, RPC_CODE } from '../node/node-fault.ts'
import type { RpcClient } from '../node/rpc-client.ts'

/**
 * Sends in one request. Chosen: a request of 64 takes a tenth of the CPU time of 64 requests, here and at a node
 * (`loadtest/transactions.ts`). A node that refuses a body of this size gets single requests.
 */
const BATCH_MAX = 64
/**
 * Characters of the transactions of one request. Chosen: agave accepts bodies of 50 KiB, and each send adds about
 * 130.
 */
const BATCH_CHARACTERS_MAX = 38 * 2 ** 10
/** Sends go without preflight, and without the node's own retries: the loop repeats them. */
const OPTIONS = { encoding: 'base64', skipPreflight: true, maxRetries: 0 } as const
const FOREVER = new AbortController().signal

interface Waiting {
  readonly transaction: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Joins sends of one turn of the event loop in JSON-RPC batches. A node that refuses batches gets single requests from then
 * on. A send is made once.
 */
export class SendBatches {
  readonly #client: Pick<RpcClient, 'call' | 'batch'>
  #waiting: Waiting[] = []
  #refusesBatches = false

  constructor(client: Pick<RpcClient, 'call' | 'batch'>) {
    this.#client = client
  }

  /** Resolves when the node has taken it. Rejects with NodeError, or at once when `signal` aborts. */
  send(transaction: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const abort = (): void => reject(signal.reason as Error)
      signal.addEventListener('abort', abort, { once: true })
      const settled =
        <T extends unknown[]>(settle: (...given: T) => void) =>
        (...given: T): void => {
          signal.removeEventListener('abort', abort)
          settle(...given)
        }
      if (this.#waiting.length === 0) queueMicrotask(() => this.#flush())
      this.#waiting.push({ transaction, resolve: settled(resolve), reject: settled(reject) })
    })
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    if (this.#refusesBatches) for (const each of waiting) void this.#single(each)
    else for (const batch of batchesOf(waiting)) void this.#batch(batch)
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

function batchesOf(waiting: readonly Waiting[]): (readonly Waiting[])[] {
  const batches: Waiting[][] = []
  let characters = Infinity
  for (const each of waiting) {
    const { length } = each.transaction
    if (characters + length > BATCH_CHARACTERS_MAX || batches.at(-1)!.length === BATCH_MAX) {
      batches.push([])
      characters = 0
    }
    batches.at(-1)!.push(each)
    characters += length
  }
  return batches
}

/** HTTP statuses by which a proxy refuses the body of a batch: malformed, too large, or not allowed. */
const REFUSING = [400, 405, 413, 415, 422]

/** Tells whether a node refused a whole batch, and so executed none of it. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof NodeError)) return false
  const { fault } = error
  if (fault.kind === 'http') return REFUSING.includes(fault.status)
  const codes: readonly number[] = [RPC_CODE.invalidRequest, RPC_CODE.methodNotFound, RPC_CODE.parseError]
  return fault.kind === 'rpc' && codes.includes(fault.code)
}
