import type { DocumentStore } from '../../storage/document-store.ts'
import { TIP_MIN_LAMPORTS, tipOf } from '../chain/tip.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import { checkBase64, type CheckedTransaction } from './checked-transaction.ts'
import type { TransactionParts } from './ports.ts'
import { TRACKED_PER_PROCESS_MAX, TRACKED_PER_TENANT_MAX, type Route } from './submission.ts'
import { Submissions } from './submissions.ts'
import { fromNode } from '../node/upstream.ts'

/** A transaction that a tenant wants to be sent. */
export interface SendWish {
  readonly transaction: CheckedTransaction
  readonly route: Route
  readonly revertProtection: boolean
  /** Whether it is simulated first, and refused if the simulation fails. */
  readonly preflight: boolean
}

interface IntakeDeps {
  readonly documents: DocumentStore
  readonly parts: TransactionParts
  readonly clock: Pick<Clock, 'now'>
}

/** Accepts transactions of tenants: checks them, stores them, and passes them to tracking, which sends them. */
export class TransactionIntake {
  readonly #deps: IntakeDeps
  readonly #submissions: Submissions

  constructor(deps: IntakeDeps) {
    this.#deps = deps
    this.#submissions = new Submissions(deps.documents, deps.parts)
  }

  /**
   * Makes the checks that need more than the transaction's bytes. Rejects with TIP_MISSING, PREFLIGHT_FAILED,
   * TRANSACTION_LIMIT_REACHED, UPSTREAM_ERROR or UPSTREAM_TIMEOUT. A signature that the tenant has already submitted
   * passes.
   */
  async check(tenant: string, wish: SendWish, signal: AbortSignal): Promise<void> {
    if (wish.route === 'jito') await this.#checkTip(wish.transaction, signal)
    const fault = await this.#limitReached(tenant)
    if (fault === null && !wish.preflight) return
    // Only this case needs a read: otherwise the insert itself detects a repeated signature.
    if (await this.#submissions.has(tenant, wish.transaction.signature)) return
    if (fault !== null) throw new ServiceError('TRANSACTION_LIMIT_REACHED', fault)
    await this.#simulate(wish.transaction, signal)
  }

  /**
   * Stores a checked transaction and starts to send it. Does neither if the tenant has already submitted its
   * signature.
   */
  async take(tenant: string, { transaction, route, revertProtection }: SendWish): Promise<void> {
    const stored = await this.#submissions.insert({
      tenant,
      signature: transaction.signature,
      wire: transaction.bytes,
      route,
      revertProtection,
      receivedAtMs: this.#deps.clock.now(),
      blockhash: transaction.blockhash,
      nonceAccount: transaction.nonce?.account ?? null,
      bundleId: null,
      end: null
    })
    if (stored !== null) this.#deps.parts.tracking.begin(stored)
  }

  async #checkTip({ wire }: CheckedTransaction, signal: AbortSignal): Promise<void> {
    const { engine } = this.#deps.parts
    if (engine === null) throw new ServiceError('UPSTREAM_ERROR', 'no block engine is configured')
    const lamports = tipOf(wire, new Set(await engine.tipAccounts(signal)))
    if (lamports >= TIP_MIN_LAMPORTS) return
    throw new ServiceError(
      'TIP_MISSING',
      lamports === 0n
        ? 'tx has no tip: a system transfer to one of the tip accounts, as a static account of the transaction'
        : `tx has a tip of ${lamports} lamports; the minimum is ${TIP_MIN_LAMPORTS}`
    )
  }

  /** Returns which limit is reached; null for none. */
  async #limitReached(tenant: string): Promise<string | null> {
    const tracked = await this.#deps.parts.tracking.count(tenant)
    if (tracked.tenant >= TRACKED_PER_TENANT_MAX)
      return `this tenant has ${TRACKED_PER_TENANT_MAX} tracked transactions, the most a tenant may have`
    if (tracked.process >= TRACKED_PER_PROCESS_MAX)
      return `this process tracks ${TRACKED_PER_PROCESS_MAX} transactions, the most it can`
    return null
  }

  async #simulate({ bytes }: CheckedTransaction, signal: AbortSignal): Promise<void> {
    const { err, logs, unitsConsumed } = await fromNode(this.#deps.parts.node.simulate(bytes, signal))
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
