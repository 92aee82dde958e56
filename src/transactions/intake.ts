import type { DocumentStore } from '../../storage/document-store.ts'
import type { Stored } from '../../storage/documents.ts'
import { TIP_MIN_LAMPORTS, tipOf } from '../chain/tip.ts'
import { ServiceError } from '../kernel/errors.ts'
import type { Clock } from '../ports.ts'
import { checkBase64, type CheckedTransaction } from './checked-transaction.ts'
import { NewestHeight } from './newest-height.ts'
import type { TransactionServices } from './ports.ts'
import { afterRepeat, type RepeatedRequest } from './repeat.ts'
import { placeRefusal } from './places.ts'
import type { Route, Submission } from './submission.ts'
import { Submissions, type RepeatOutcome, type SubmissionState } from './submissions.ts'
import { withinNodeTime } from '../node/node-time.ts'
import { fromNode } from '../node/upstream.ts'
import { SIMULATION_WAIT_MS } from '../kernel/time-limits.ts'

/** Maximum attempts of a write and a read: a race with the end of a submission's retention can need three. */
const ATTEMPTS_MAX = 3

/** A request of a tenant to send a transaction. */
export interface SendRequest {
  readonly transaction: CheckedTransaction
  readonly route: Route
  readonly revertProtection: boolean
  /** Whether it is simulated first, and refused if the simulation fails. */
  readonly preflight: boolean
}

interface IntakeDeps {
  readonly documents: DocumentStore
  readonly parts: TransactionServices
  readonly clock: Clock
}

/** Accepts transactions of tenants: checks them, stores them, and passes them to tracking, which sends them. */
export class TransactionIntake {
  readonly #deps: IntakeDeps
  readonly #submissions: Submissions
  readonly #height: NewestHeight

  constructor(deps: IntakeDeps) {
    this.#deps = deps
    this.#submissions = new Submissions(deps.documents, deps.parts)
    this.#height = new NewestHeight(deps.parts, deps.clock)
  }

  /**
   * Makes the checks that need more than the transaction's bytes. Rejects with TIP_MISSING, PREFLIGHT_FAILED,
   * TRANSACTION_LIMIT_REACHED, NOT_CONFIGURED, UPSTREAM_ERROR or UPSTREAM_TIMEOUT. A signature that the tenant has
   * already submitted passes.
   */
  async check(tenant: string, request: SendRequest, signal: AbortSignal): Promise<void> {
    if (request.route === 'jito') await this.#checkTip(request.transaction, signal)
    const fault = await this.#limitReached(tenant)
    if (fault === null && !request.preflight) return
    // Only this case needs a read: otherwise the insert itself detects a repeated signature.
    const known = await this.#submissions.get(tenant, request.transaction.signature)
    if (known !== null && (fault === null || !this.#takesPlace(known, request))) return
    if (fault !== null) throw new ServiceError('TRANSACTION_LIMIT_REACHED', fault)
    await this.#simulate(request.transaction, signal)
  }

  /**
   * Stores a checked transaction and starts to send it. If the tenant has already submitted its signature, applies the
   * request to that submission as `afterRepeat` does, and returns the outcome; null for a new submission.
   */
  async take(tenant: string, request: SendRequest): Promise<RepeatOutcome | null> {
    const { tracking } = this.#deps.parts
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const stored = await this.#insert(tenant, request)
      if (stored !== null) {
        tracking.begin(stored)
        return null
      }
      const repeat = await this.#repeat(tenant, request)
      if (repeat === null) continue
      if (repeat.changed !== null) tracking.begin(repeat.changed)
      return repeat
    }
    throw new ServiceError('STORAGE_UNAVAILABLE', 'a submission was stored and deleted repeatedly')
  }

  #insert(
    tenant: string,
    { transaction, route, revertProtection }: SendRequest
  ): Promise<Stored<Submission> | null> {
    const { sightings } = this.#deps.parts
    const reported = this.#height.read()
    const receivedSlot = sightings.newest?.slot ?? reported?.slot
    const lastValidBlockHeight =
      transaction.nonce === null ? sightings.lastValidBlockHeight(transaction.blockhash) : null
    return this.#submissions.insert({
      tenant,
      signature: transaction.signature,
      wire: transaction.bytes,
      route,
      revertProtection,
      receivedAtMs: this.#deps.clock.now(),
      ...(receivedSlot !== undefined && { receivedSlot }),
      ...(reported !== null && { receivedHeight: reported.height }),
      ...(lastValidBlockHeight !== null && { lastValidBlockHeight }),
      blockhash: transaction.blockhash,
      nonceAccount: transaction.nonce?.account ?? null,
      bundleId: null,
      end: null
    })
  }

  #repeat(tenant: string, request: SendRequest): Promise<RepeatOutcome | null> {
    return this.#submissions.repeat(tenant, request.transaction.signature, this.#requestOf(request))
  }

  #requestOf({ transaction, route, revertProtection }: SendRequest): RepeatedRequest {
    return { route, revertProtection, wire: transaction.bytes, atMs: this.#deps.clock.now() }
  }

  /** Returns whether a repeated request starts the tracking of an ended submission again. */
  #takesPlace({ submission, progress }: SubmissionState, request: SendRequest): boolean {
    return submission.end !== null && afterRepeat(submission, progress, this.#requestOf(request)).isResumed
  }

  async #checkTip({ wire }: CheckedTransaction, signal: AbortSignal): Promise<void> {
    const { engine } = this.#deps.parts
    if (engine === null) throw new ServiceError('NOT_CONFIGURED', 'no block engine is configured')
    const lamports = tipOf(wire, new Set(await engine.tipAccounts(signal)))
    if (lamports >= TIP_MIN_LAMPORTS) return
    throw new ServiceError(
      'TIP_MISSING',
      lamports === 0n
        ? 'tx has no tip: a system transfer to one of the tip accounts, as a static account of the transaction'
        : `tx has a tip of ${lamports} lamports; the minimum is ${TIP_MIN_LAMPORTS}`
    )
  }

  /** Returns the limit that is reached; null below all limits. */
  async #limitReached(tenant: string): Promise<string | null> {
    return placeRefusal(await this.#deps.parts.tracking.count(tenant))
  }

  async #simulate({ bytes }: CheckedTransaction, signal: AbortSignal): Promise<void> {
    const { parts, clock } = this.#deps
    const { err, logs, unitsConsumed } = await fromNode(
      withinNodeTime(clock, SIMULATION_WAIT_MS, (end) => parts.node.simulate(bytes, end), signal)
    )
    if (err === null || err === undefined) return
    throw new ServiceError('PREFLIGHT_FAILED', 'the simulation of tx failed; see err and logs', {
      members: { err, logs, units_consumed: unitsConsumed }
    })
  }
}

/** Reads the transaction of a field in base64. Throws TRANSACTION_INVALID or TRANSACTION_UNSIGNED, which name the field. */
export function transactionIn(field: string, base64: string): CheckedTransaction {
  const outcome = checkBase64(base64)
  if (outcome.ok) return outcome.transaction
  const code = outcome.kind === 'unsigned' ? 'TRANSACTION_UNSIGNED' : 'TRANSACTION_INVALID'
  throw new ServiceError(code, `${field} ${outcome.reason}`)
}
