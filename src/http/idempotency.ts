import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { withoutEffects } from '../request-effects.ts'
import { ServiceError } from '../errors.ts'
import { invalid } from './parameters.ts'

/** Maximum characters of an `Idempotency-Key`. Chosen: seven UUIDs; the stored document has its hash. */
export const IDEMPOTENCY_KEY_MAX = 255
/** Chosen: clients retry within minutes; Stripe also keeps its keys for 24 hours. */
const TTL_MS = 24 * 3_600_000
/** Reads and writes that a race with the expiry of the stored request can need. */
const ATTEMPTS_MAX = 3

/**
 * A request that was made with an `Idempotency-Key`. A tenant can store at most as many as its keys may make calls in
 * 24 hours; each has a few hundred bytes.
 */
export const IDEMPOTENT_REQUEST = defineDocument({
  kind: 'idempotent-request',
  schema: z.object({
    tenant: z.string(),
    /** Method and path of the endpoint. */
    operation: z.string(),
    /** SHA-256 of the key and of the body, in hexadecimal. */
    keyHash: z.string(),
    contentHash: z.string(),
    /** Id of the resource that the request creates, and what else a repeat needs; a secret is encrypted. */
    resource: z.string(),
    /** Whether the resource was made. */
    isDone: z.boolean()
  }),
  partition: ({ tenant }) => tenant,
  key: ({ operation, keyHash }) => [operation, keyHash],
  ttlMs: TTL_MS
})
type IdempotentRequest = z.infer<typeof IDEMPOTENT_REQUEST.schema>

/** A request to be made once. */
export interface OnceRequest {
  readonly tenant: string
  /** Method and path of the endpoint. */
  readonly operation: string
  /** Null for a request without a key, which is made each time. */
  readonly key: string | null
  /** The validated body. */
  readonly content: unknown
}

/** The resource that a request creates. */
export interface Intended {
  readonly id: string
  /** Whether an earlier request with the same key made it. */
  readonly isDone: boolean
}

/**
 * Executes requests with an `Idempotency-Key` once.
 *
 * K0. A request without a key is executed each time.
 * K1. The id of the resource is stored before the resource is created. So a concurrent repeat, or a retry after a
 *     crash or a lost answer, creates the same resource.
 * K2. A key with another body is refused.
 * K3. A request that `prepare` refuses leaves its key free. A request that `make` refuses is executed again when it
 *     is repeated.
 */
export class Idempotency {
  readonly #documents: Documents<IdempotentRequest>

  constructor(store: DocumentStore) {
    this.#documents = new Documents(store, IDEMPOTENT_REQUEST)
  }

  /**
   * Executes a request. `prepare` checks it, and chooses an id for the first request with its key. `make` must accept
   * an id whose resource it has already created. Rejects with IDEMPOTENCY_KEY_REUSED, or with the error of either.
   */
  async once<Made>(
    request: OnceRequest,
    prepare: () => Promise<string>,
    make: (intended: Intended) => Promise<Made>
  ): Promise<Made> {
    if (request.key === null) return make({ id: await prepare(), isDone: false })
    const stored = await this.#intend(request, request.key, prepare)
    const { resource: id, isDone } = stored.value
    const made = await make({ id, isDone })
    // The effect is durable. If this note about it is lost, or a concurrent repeat wrote it first, a repeat finds the effect.
    if (!isDone)
      await withoutEffects(() => this.#documents.update(stored, { ...stored.value, isDone: true })).catch(
        () => undefined
      )
    return made
  }

  /** Stores the intent of a request, or returns the outcome of the first request with its key. */
  async #intend(
    { tenant, operation, content }: OnceRequest,
    key: string,
    prepare: () => Promise<string>
  ): Promise<Stored<IdempotentRequest>> {
    const keyHash = sha256(key)
    const contentHash = sha256(JSON.stringify(content))
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const first = await this.#documents.get(tenant, [operation, keyHash])
      if (first !== null) {
        if (first.value.contentHash === contentHash) return first
        throw new ServiceError(
          'IDEMPOTENCY_KEY_REUSED',
          'this Idempotency-Key was used for a request with another body'
        )
      }
      const resource = await prepare()
      const intent = { tenant, operation, keyHash, contentHash, resource, isDone: false }
      const outcome = await withoutEffects(() => this.#documents.insert(intent))
      if (outcome.ok) return outcome.stored
    }
    throw new ServiceError('STORAGE_UNAVAILABLE', 'an idempotency key was stored and deleted repeatedly')
  }
}

/** Returns the `Idempotency-Key` of a request; null without one. Throws PARAMETER_INVALID for one that is none. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || key.length > IDEMPOTENCY_KEY_MAX || !/^[\x21-\x7e]+$/.test(key))
    throw invalid(
      'Idempotency-Key',
      `must be 1 to ${IDEMPOTENCY_KEY_MAX} printable ASCII characters without spaces`
    )
  return key
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
