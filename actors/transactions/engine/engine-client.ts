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
import type { SubmissionOutcome } from '../../../src/transactions/ports.ts'

export interface EngineClientOptions {
  /** Base URLs of the regions, nearest first. */
  readonly urls: readonly string[]
  /** UUID of the operator; null for none. */
  readonly auth: string | null
  /** Requests a second that a region allows. */
  readonly requestsPerSecond: number
  readonly clock: Clock
  readonly client?: Partial<RpcClientOptions>
}

const BUNDLES = '/api/v1/bundles'
const TRANSACTIONS = '/api/v1/transactions'
/** Bytes of an answer at most. Chosen: far above five statuses with errors. */
const BODY_BYTES_MAX = 256 * 1024
const TIMEOUT_MS = 5_000
/** Submissions that wait for a region's rate at most; further ones are for another region, or later. */
const WAITING_MAX = 10
/** Codes by which the engine refuses for its rate limit within an answer: it has taken nothing. */
const RATE_CODES: readonly number[] = [-32097, -32429]
const INTERNAL_ERROR = -32603
/** Errors of a connection that was never made, so that nothing was sent. */
const NOT_CONNECTED: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT'
]

/**
 * The block engine's JSON interface, over all of its regions.
 *
 * E1. A submission goes to the nearest region that is free. It goes to another one only if the engine cannot have taken it:
 *     no connection, or a refusal before accepting (HTTP 429, 401). After any other fault the outcome is unknown, and nothing
 *     is sent.
 * E2. A read goes to the next region after any fault.
 * E3. Each region gets at most its requests a second; submissions go before reads. A region that answered 429 gets no
 *     requests for the time that it states.
 */
export class EngineClient {
  readonly #regions: readonly { readonly client: RpcClient; readonly base: string }[]

  constructor({ urls, auth, requestsPerSecond, clock, client }: EngineClientOptions) {
    const options: Partial<RpcClientOptions> = {
      requestsPerSecond,
      timeoutMs: TIMEOUT_MS,
      bodyBytesMax: BODY_BYTES_MAX,
      compressed: false,
      ...(auth !== null && { headers: { 'x-jito-auth': auth } }),
      ...client
    }
    this.#regions = nodeAddresses(urls).map((address) => ({
      client: new RpcClient(address, clock, options),
      base: address.path.replace(/\/+$/, '')
    }))
  }

  get regions(): number {
    return this.#regions.length
  }

  /** Requests sent since the start. */
  get sent(): number {
    return this.#regions.reduce((sum, { client }) => sum + client.sent, 0)
  }

  /** Submits a bundle. Rejects only with the signal's reason. */
  sendBundle(wires: readonly Uint8Array[], signal: AbortSignal): Promise<SubmissionOutcome> {
    const texts = wires.map((wire) => Buffer.from(wire).toString('base64'))
    return this.#submit(BUNDLES, 'sendBundle', [texts, { encoding: 'base64' }], signal)
  }

  /**
   * Submits a transaction; with `bundleOnly` as a bundle of one, which lands only if it succeeds. Rejects only with the
   * signal's reason.
   */
  sendTransaction(wire: Uint8Array, bundleOnly: boolean, signal: AbortSignal): Promise<SubmissionOutcome> {
    const params = [Buffer.from(wire).toString('base64'), { encoding: 'base64' }]
    return this.#submit(
      TRANSACTIONS + (bundleOnly ? '?bundleOnly=true' : ''),
      'sendTransaction',
      params,
      signal
    )
  }

  /** Statuses of at most five bundles, by id. Rejects with NodeError of the last region. */
  async statuses(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, EngineStatus>> {
    return engineStatuses(await this.#read('getInflightBundleStatuses', [ids], inflightAnswer, signal), ids)
  }

  /** Base58 addresses. Rejects with NodeError of the last region. */
  tipAccounts(signal: AbortSignal): Promise<readonly string[]> {
    return this.#read('getTipAccounts', [], tipAccountsAnswer, signal)
  }

  async close(): Promise<void> {
    await Promise.all(this.#regions.map(({ client }) => client.close()))
  }

  async #submit(
    path: string,
    method: string,
    params: readonly unknown[],
    signal: AbortSignal
  ): Promise<SubmissionOutcome> {
    let deferred: SubmissionOutcome = {
      kind: 'deferred',
      detail: 'the queue of every region is full',
      waitMs: 1_000
    }
    for (const { client, base } of this.#nearest()) {
      if (client.waiting >= WAITING_MAX) continue
      try {
        const { result } = await client.call(method, params, { signal, urgent: true, path: base + path })
        return { kind: 'accepted', id: typeof result === 'string' ? result : null }
      } catch (error) {
        const outcome = outcomeOf(error)
        if (outcome.kind !== 'deferred') return outcome
        deferred = outcome
      }
    }
    return deferred
  }

  async #read<T>(
    method: string,
    params: readonly unknown[],
    schema: z.ZodType<T>,
    signal: AbortSignal
  ): Promise<T> {
    let last: unknown
    for (const { client, base } of this.#nearest()) {
      try {
        const { result } = await client.call(method, params, { signal, path: base + BUNDLES })
        const read = schema.safeParse(result)
        if (read.success) return read.data
        last = new NodeError(client.name, { kind: 'garbage', detail: `no answer to ${method}` })
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        last = error
      }
    }
    throw last
  }

  /** The regions, those with the fewest waiting requests first, of equal ones the nearest. */
  #nearest() {
    return this.#regions.toSorted((a, b) => a.client.waiting - b.client.waiting)
  }
}

/** Returns the outcome of a submission that failed with a fault. */
function outcomeOf(error: unknown): SubmissionOutcome {
  if (!(error instanceof NodeError)) throw error
  const { fault, message: detail } = error
  switch (fault.kind) {
    case 'throttled':
      return { kind: 'deferred', detail, waitMs: fault.restMs }
    case 'busy':
    case 'unauthorized':
      return { kind: 'deferred', detail, waitMs: 1_000 }
    case 'unreachable': {
      const code = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? ''
      const isUnsent = NOT_CONNECTED.includes(code)
      return isUnsent ? { kind: 'deferred', detail, waitMs: 1_000 } : { kind: 'unsure', detail }
    }
    case 'rpc':
      if (RATE_CODES.includes(fault.code)) return { kind: 'deferred', detail, waitMs: 1_000 }
      if (fault.code === INTERNAL_ERROR) return { kind: 'unsure', detail }
      return { kind: 'refused', code: fault.code, message: fault.message }
    case 'http':
      return fault.status < 500
        ? { kind: 'refused', code: fault.status, message: `HTTP ${fault.status}` }
        : { kind: 'unsure', detail }
    default:
      return { kind: 'unsure', detail }
  }
}
