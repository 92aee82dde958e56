import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { defineDocument } from '../../../storage/document-definition.ts'
import type { DocumentStore } from '../../../storage/document-store.ts'
import { Documents, type Stored } from '../../../storage/documents.ts'
import { withoutEffects } from '../request-effects.ts'
import { SingleFlight } from '../work/single-flight.ts'
import type { TextSeal } from '../../access/text-seal.ts'
import { ERRORS, ServiceError } from '../errors.ts'
import { invalid } from './parameters.ts'

/** Maximum characters of an `Idempotency-Key`: seven UUIDs; the stored document has its hash. */
export const IDEMPOTENCY_KEY_MAX = 255
/** TTL of a stored request: clients retry within minutes; Stripe also keeps its keys for 24 hours. */
const TTL_MS = 24 * 3_600_000
/** Maximum attempts: a race with the expiry of the stored request can need several reads and writes. */
const ATTEMPTS_MAX = 3

/**
 * A request that was made with an `Idempotency-Key`. The maximum of a tenant is the number of calls that its keys may make
 * in 24 hours. Each document has a few hundred bytes, and its answer, which seldom has more.
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
    /** Id of the resource that the request creates, and other data for a repeat; a secret is encrypted. */
    resource: z.string(),
    /** Whether the resource was created. */
    isDone: z.boolean(),
    /** The answer, encrypted, and the hash of the whole body. Absent before the end, and from earlier versions. */
    answer: z.object({ sealed: z.string(), bodyHash: z.string() }).optional()
  }),
  partition: ({ tenant }) => tenant,
  key: ({ operation, keyHash }) => [operation, keyHash],
  ttlMs: TTL_MS
})
type IdempotentRequest = z.infer<typeof IDEMPOTENT_REQUEST.schema>

/** The answer of a request, which its repeats get too. */
export interface StoredAnswer {
  readonly status: number
  /** Whether the answer shows a secret, so that no cache may store it. */
  readonly isSecret: boolean
  /** JSON. */
  readonly text: string
}

/** A request to be executed once. */
export interface OnceRequest {
  readonly tenant: string
  /** Method and path of the endpoint. */
  readonly operation: string
  /** Null for a request without a key, which is executed each time. */
  readonly key: string | null
  /** The validated body. */
  readonly content: unknown
}

/** The resource that a request creates. */
export interface Intended {
  readonly id: string
  /** Whether an earlier request with this key created it. */
  readonly isDone: boolean
}

/**
 * Executes requests with an `Idempotency-Key` once.
 *
 * K0. A request without a key is executed each time.
 * K1. The id of the resource is stored before the resource is created. So a concurrent repeat, or a retry after a
 *     crash or a lost answer, creates no second resource.
 * K2. A key that was used with another body is refused.
 * K3. A request that `prepare` refuses leaves its key free. A request that `make` refuses is executed again when it
 *     is repeated.
 * K4. The answer is stored, encrypted. Each repeat gets it, whatever has become of the resource since. If the store failed
 *     before it had the answer, a repeat gets the current resource. A repeat while this process executes the first
 *     request gets the first request's answer, too.
 */
export class Idempotency {
  readonly #documents: Documents<IdempotentRequest>
  readonly #seal: TextSeal | null
  /** Running answers, by the name of the call. */
  readonly #running = new SingleFlight<StoredAnswer>()

  /** Without a `seal`, answers are not stored, and a repeat gets the current resource. */
  constructor(store: DocumentStore, seal: TextSeal | null = null) {
    this.#documents = new Documents(store, IDEMPOTENT_REQUEST)
    this.#seal = seal
  }

  /**
   * Executes a request. `prepare` checks it, and chooses an id for the first request with its key. `make` must accept
   * an id whose resource it has already created. Rejects with IDEMPOTENCY_KEY_REUSED, or with the error of either.
   */
  async once<Made>(
    { key, content, ...request }: OnceRequest,
    prepare: () => Promise<string>,
    make: (intended: Intended) => Promise<Made>
  ): Promise<Made> {
    if (key === null) return make({ id: await prepare(), isDone: false })
    const call = this.call({ ...request, key, body: content })
    const made = await call.once(content, prepare, make)
    await call.done()
    return made
  }

  /** Returns a request with a key, to be executed or answered. */
  call(request: KeyedRequest): KeyedCall {
    return new KeyedCall(this.#documents, this.#seal, request)
  }

  /** Answers a call by `work`, or by a running identical call. Rejects with the error of `work`. */
  answer({ name }: KeyedCall, work: () => Promise<StoredAnswer>): Promise<StoredAnswer> {
    return this.#running.run(name, work)
  }
}

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly tenant: string
  /** Method and path of the request. */
  readonly operation: string
  readonly key: string
  /** The validated body. */
  readonly body: unknown
}

/** One execution of a request with an `Idempotency-Key`. */
export class KeyedCall {
  readonly #documents: Documents<IdempotentRequest>
  readonly #seal: TextSeal | null
  readonly #tenant: string
  readonly #operation: string
  readonly #keyHash: string
  readonly #bodyHash: string
  /** Tenant, operation, key and body. */
  readonly name: string
  /** The request as last read or written; null before. */
  #stored: Stored<IdempotentRequest> | null = null

  constructor(
    documents: Documents<IdempotentRequest>,
    seal: TextSeal | null,
    { tenant, operation, key, body }: KeyedRequest
  ) {
    this.#documents = documents
    this.#seal = seal
    this.#tenant = tenant
    this.#operation = operation
    this.#keyHash = sha256(key)
    this.#bodyHash = sha256(contentText(body ?? null))
    this.name = JSON.stringify([tenant, operation, this.#keyHash, this.#bodyHash])
  }

  /** Returns the stored answer; null if no answer is stored for this body, or if this process cannot decrypt it. */
  async answer(): Promise<StoredAnswer | null> {
    this.#stored = await this.#read()
    const answer = this.#stored?.value.answer
    if (answer === undefined || answer.bodyHash !== this.#bodyHash || this.#seal === null) return null
    try {
      return JSON.parse(this.#seal.openText(this.#purpose, answer.sealed)) as StoredAnswer
    } catch {
      return null
    }
  }

  /** Executes the request, as `Idempotency.once` does. `content` is what a repeat must equal. */
  async once<Made>(
    content: unknown,
    prepare: () => Promise<string>,
    make: (intended: Intended) => Promise<Made>
  ): Promise<Made> {
    this.#stored = await this.#intend(sha256(contentText(content)), prepare)
    const { resource: id, isDone } = this.#stored.value
    return make({ id, isDone })
  }

  /**
   * Stores that the request is done, with its answer, and returns the answer. The effect is durable: if this record of the
   * effect is lost, or a concurrent repeat wrote it first, a repeat finds the effect.
   */
  async end(answer: StoredAnswer): Promise<StoredAnswer> {
    const sealed = this.#seal?.sealText(this.#purpose, JSON.stringify(answer))
    await this.done(sealed === undefined ? {} : { answer: { sealed, bodyHash: this.#bodyHash } })
    return answer
  }

  /** Stores that the request is done. */
  async done(answer: Pick<IdempotentRequest, 'answer'> = {}): Promise<void> {
    const stored = this.#stored
    if (stored === null || (stored.value.isDone && answer.answer === undefined)) return
    const done = { ...stored.value, isDone: true, ...answer }
    await withoutEffects(() => this.#documents.update(stored, done)).catch(() => undefined)
  }

  get #purpose(): string {
    return `idempotent-request ${JSON.stringify([this.#tenant, this.#operation, this.#keyHash])}`
  }

  #read(): Promise<Stored<IdempotentRequest> | null> {
    return this.#documents.get(this.#tenant, [this.#operation, this.#keyHash])
  }

  /** Stores the intent of a request, or returns the outcome of the first request with its key. */
  async #intend(contentHash: string, prepare: () => Promise<string>): Promise<Stored<IdempotentRequest>> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const first = this.#stored ?? (await this.#read())
      if (first !== null) {
        if (first.value.contentHash === contentHash) return first
        throw new ServiceError(
          ERRORS.IDEMPOTENCY_KEY_REUSED,
          'this Idempotency-Key was used for a request with another body'
        )
      }
      const resource = await prepare()
      const [tenant, operation, keyHash] = [this.#tenant, this.#operation, this.#keyHash]
      const intent = { tenant, operation, keyHash, contentHash, resource, isDone: false }
      const outcome = await withoutEffects(() => this.#documents.insert(intent))
      if (outcome.ok) return outcome.stored
    }
    throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'an idempotency key was stored and deleted repeatedly')
  }
}

/** Returns the `Idempotency-Key` of a request; null if it has none. Throws PARAMETER_INVALID for an invalid key. */
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

/** Returns a value as JSON, with raw amounts as text. */
function contentText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
