import type { DocumentStore } from '../../storage/document-store.ts'
import { decodeBase58 } from '../chain/base58.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import { TRANSACTION_ERRORS } from '../transactions/errors.ts'
import type { Clock } from '../ports.ts'
import { TransactionIntake, transactionIn } from '../transactions/intake.ts'
import type { TransactionServices } from '../transactions/ports.ts'
import { upstreamDown, type RpcError } from './rpc-error.ts'

/** Maximum base58 length of a transaction of 1,232 bytes (agave, MAX_BASE58_SIZE); longer text is not decoded. */
const BASE58_DIGITS_MAX = 1_683

/** The outcome of a tracked send: the JSON text of its result, or an error. */
export type SendOutcome = { readonly result: string } | { readonly error: RpcError }

/**
 * Sends transactions like /v1/tx/send: stores them, resends them until they land or expire, and reports their status.
 * Preflight is as in `sendTransaction`: it runs unless `skipPreflight` is true.
 */
export class TrackedSends {
  readonly #intake: TransactionIntake
  readonly #absence: () => ServiceError | null

  /** `absence` returns the refusal while no process sends and tracks transactions. */
  constructor(
    documents: DocumentStore,
    parts: TransactionServices,
    clock: Clock,
    absence: () => ServiceError | null = () => null
  ) {
    this.#intake = new TransactionIntake({ documents, parts, clock })
    this.#absence = absence
  }

  /** Accepts a transaction of a tenant. Rejects only with the signal's reason or a store error. */
  async send(tenant: string, params: unknown, signal: AbortSignal): Promise<SendOutcome> {
    const [text, config] = Array.isArray(params) ? (params as unknown[]) : []
    const options = typeof config === 'object' && config !== null ? (config as Record<string, unknown>) : {}
    if (typeof text !== 'string') return invalid('expected a transaction as text')
    const base64 = options['encoding'] === 'base64' ? text : base64Of(text)
    if (base64 === null) return invalid('invalid base58 encoding')
    try {
      const absent = this.#absence()
      if (absent !== null) throw absent
      const request = {
        transaction: transactionIn('transaction', base64),
        route: 'node',
        revertProtection: false,
        preflight: options['skipPreflight'] !== true
      } as const
      await this.#intake.check(tenant, request, signal)
      await this.#intake.take(tenant, request)
      return { result: JSON.stringify(request.transaction.signature) }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const made = errorOf(error)
      if (made === null) throw error
      return { error: made }
    }
  }
}

/** Returns the error in a node's form; null for an error that does not concern the transaction. */
function errorOf({ kind, detail, members }: ServiceError): RpcError | null {
  switch (kind) {
    case TRANSACTION_ERRORS.TRANSACTION_INVALID:
      return { code: -32602, message: detail }
    case TRANSACTION_ERRORS.TRANSACTION_UNSIGNED:
      return { code: -32003, message: 'Transaction signature verification failure' }
    case TRANSACTION_ERRORS.PREFLIGHT_FAILED: {
      const { err, logs, units_consumed: unitsConsumed } = members
      return {
        code: -32002,
        message: 'Transaction simulation failed',
        data: { accounts: null, err, logs, unitsConsumed }
      }
    }
    case TRANSACTION_ERRORS.TRANSACTION_LIMIT_REACHED:
      return { code: -32429, message: detail, data: { retryable: true } }
    case ERRORS.ROLE_MISSING:
      return { code: -32603, message: detail, data: { code: kind.code, ...members, retryable: true } }
    case ERRORS.NOT_CONFIGURED:
      return { code: -32603, message: detail, data: { retryable: false } }
    case ERRORS.UPSTREAM_ERROR:
    case ERRORS.UPSTREAM_TIMEOUT:
      return upstreamDown(detail).error
    default:
      return null
  }
}

const invalid = (message: string): SendOutcome => ({ error: { code: -32602, message } })

function base64Of(base58: string): string | null {
  if (base58.length > BASE58_DIGITS_MAX) return null
  try {
    return Buffer.from(decodeBase58(base58)).toString('base64')
  } catch {
    return null
  }
}
