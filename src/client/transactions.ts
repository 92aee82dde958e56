import type {
  BundleStatus,
  TransactionStatus,
  TxApi,
  TxBundlesApi,
  TxBundlesSendAnswer,
  TxSendAnswer,
  TxSendBody
} from './api.ts'
import { pause } from './requester.ts'
import type { Clock, RequestOptions } from './request-options.ts'
import type { SubmissionChanges } from './submission-changes.ts'

/**
 * A signed transaction: its bytes, its base64, or an object of `@solana/web3.js`. For `@solana/kit`, pass
 * `getBase64EncodedWireTransaction(transaction)`.
 */
export type SignedTransaction = string | Uint8Array | { serialize(): Uint8Array }

/** How a transaction is sent. */
export type SendOptions = Omit<TxSendBody, 'tx'> & RequestOptions

/** A commitment at which a transaction counts as landed. */
export type LandedAt = 'confirmed' | 'finalized'

/** Options of `follow` and `wait`. */
export interface FollowOptions extends RequestOptions {
  /** The commitment at which a success ends it. */
  readonly until?: LandedAt | undefined
}

/** Transactions: sends them, and follows them to their end. */
export interface Transactions extends Omit<TxApi, 'send' | 'bundles'> {
  readonly bundles: Bundles
  /**
   * Sends a signed transaction. Resolves once the service has stored it; from then on the service resends it until it lands
   * or expires. A repeat is safe: a signature is stored once.
   */
  send(transaction: SignedTransaction, options?: SendOptions): Promise<TxSendAnswer>
  /**
   * Yields the status of a transaction, and each change of it, until the transaction is `finalized` (or at `until`), has
   * failed, or has expired. Reads the stream's channel `tx` if the key may; otherwise it polls every 2 s. For a signature
   * that is not known to the service it ends with the signal alone.
   */
  follow(signature: string, options?: FollowOptions): AsyncGenerator<TransactionStatus, undefined>
  /**
   * Resolves with the last status of a transaction: at `confirmed` (or `until`), failed (`err`), or expired (`expired`).
   * A failure does not reject: check `err` and `expired`.
   */
  wait(signature: string, options?: FollowOptions): Promise<TransactionStatus>
}

/** Bundles: transactions that land together, in order, or not at all. */
export interface Bundles extends Omit<TxBundlesApi, 'send'> {
  /** Sends 1 to 5 signed transactions as a bundle; the last one pays the tip. Resolves once the bundle is stored. */
  send(transactions: readonly SignedTransaction[], options?: RequestOptions): Promise<TxBundlesSendAnswer>
  /** Resolves with the status of a bundle once it has landed at `confirmed` (or `until`), or has failed. Polls every 2 s. */
  wait(bundleId: string, options?: FollowOptions): Promise<BundleStatus>
}

/** Poll interval in milliseconds without the stream: that of the service's sends. */
const POLL_MS = 2_000
/** Poll interval in milliseconds with the stream, which reports each change: for one that was lost with a process. */
const POLL_BESIDE_STREAM_MS = 15_000

/** Makes the functions for transactions. */
export function transactionsOf(api: TxApi, changes: SubmissionChanges, clock: Clock): Transactions {
  async function* follow(
    signature: string,
    { until = 'finalized', ...options }: FollowOptions = {}
  ): AsyncGenerator<TransactionStatus, undefined> {
    const watch = changes.watch(signature)
    let shown: string | null = null
    try {
      for (;;) {
        watch.clear()
        const status = await api.status(signature, options)
        const look = JSON.stringify([status.state, status.status, status.slot, status.err, status.evidence])
        if (look !== shown) yield status
        shown = look
        if (isEnded(status, until)) return
        const isStreamed = changes.isReadable && status.state !== null
        await changeOr(isStreamed ? POLL_BESIDE_STREAM_MS : POLL_MS, options.signal)
      }
    } finally {
      watch.end()
    }

    /** Resolves at the next change, or after a wait. */
    async function changeOr(ms: number, signal: AbortSignal | undefined): Promise<void> {
      if (watch.isChanged) return
      const change = new AbortController()
      const leave = (): void => change.abort(signal?.reason)
      watch.onChange(() => change.abort(CHANGED))
      signal?.addEventListener('abort', leave, { once: true })
      try {
        await pause(clock, ms, signal?.aborted === true ? signal : change.signal)
      } catch (reason) {
        if (reason !== CHANGED) throw reason
      } finally {
        watch.onChange(null)
        signal?.removeEventListener('abort', leave)
      }
    }
  }

  return {
    ...api,
    send: (transaction, { signal, timeoutMs, retries, idempotencyKey, ...how } = {}) =>
      api.send({ tx: base64Of(transaction), ...how }, { signal, timeoutMs, retries, idempotencyKey }),
    follow,
    async wait(signature, { until = 'confirmed', ...options } = {}) {
      let last: TransactionStatus | null = null
      for await (const status of follow(signature, { until, ...options })) last = status
      return last!
    },
    bundles: {
      ...api.bundles,
      send: (transactions, options) => api.bundles.send({ txs: transactions.map(base64Of) }, options),
      async wait(bundleId, { until = 'confirmed', ...options } = {}) {
        for (;;) {
          const status = await api.bundles.status(bundleId, options)
          if (isBundleEnded(status, until)) return status
          await pause(clock, POLL_MS, options.signal)
        }
      }
    }
  }
}

/** Aborts a wait because of a change. */
const CHANGED = Symbol('changed')

/** Whether nothing is left to wait for: it has landed at the commitment, has failed, or can no longer land. */
function isEnded({ state, status, err, expired, tracking }: TransactionStatus, until: LandedAt): boolean {
  if (expired || state === 'failed' || status === 'finalized') return true
  if (status === 'confirmed') return until === 'confirmed' || (state !== null && err !== null && !tracking)
  // Its end stays unknown, and it is no longer sent.
  return state === 'sent' && !tracking
}

function isBundleEnded(bundle: BundleStatus, until: LandedAt): boolean {
  const { status, confirmation_status: commitment } = bundle
  if (status === 'landed')
    return commitment === 'finalized' || (commitment === 'confirmed' && until === 'confirmed')
  return status === 'failed' || (status === 'unknown' && bundle.submitted_at !== null)
}

function base64Of(transaction: SignedTransaction): string {
  if (typeof transaction === 'string') return transaction
  const bytes = transaction instanceof Uint8Array ? transaction : transaction.serialize()
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
