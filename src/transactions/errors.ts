import { errorKinds, final, retryable } from '../kernel/error-kind.ts'

/** Errors of transactions and bundles that are sent. */
export const TRANSACTION_ERRORS = errorKinds({
  TIP_MISSING: final(422, 'tip_missing', 'Tip missing', {
    meaning:
      'The block-engine route needs a tip: a system transfer of at least 1,000 lamports to a tip account. The tip account must be a static account of the transaction, not an entry of a lookup table.',
    remedy:
      'Add the transfer to the transaction; in a bundle, to the last transaction. `GET /v1/tx/tips` lists the accounts and usual tips.',
    example: 'tx has a tip of 999 lamports; the minimum is 1000'
  }),
  TRANSACTION_INVALID: final(400, 'transaction_invalid', 'Transaction invalid', {
    meaning:
      'With status 400, the transaction is not base64, or is too long, truncated, malformed or of an unknown version. With status 422, a required signature is missing or does not match the message.',
    remedy:
      'Correct the fault that `detail` names. Sign with every signer after the last change of the message. Send the bytes of the whole transaction.',
    example: 'tx is not a valid transaction: transaction bytes end early'
  }),
  /** Shares the code of TRANSACTION_INVALID: the bytes were parsed, but are refused. */
  TRANSACTION_UNSIGNED: final(422, 'transaction_invalid', 'Transaction invalid', {
    meaning: 'A required signature is missing, or does not match the message.',
    remedy: 'Sign with every signer after the last change of the message.',
    example: 'tx is not signed by 3zi7ET8HFv7CbfQ87Y9ziuNidLZz7biTeG5jTusE7LUm'
  }),
  PREFLIGHT_FAILED: final(422, 'preflight_failed', 'Preflight failed', {
    meaning:
      'The simulation of the transaction failed, so it was not sent. The request has `skip_preflight: false`. `err`, `logs` and `units_consumed` are those of the simulation.',
    remedy:
      'Correct the transaction. With `BlockhashNotFound`, re-sign it with a recent blockhash of this cluster.',
    example: 'the simulation of tx failed; see err and logs'
  }),
  TRANSACTION_LIMIT_REACHED: retryable(429, 'transaction_limit_reached', 'Transaction limit reached', {
    meaning:
      'The maximum number of transactions is being sent and tracked: 2,000 of one tenant, or 10,000 of one process of the service.',
    remedy:
      'Wait until some have landed or expired, at most about a minute. `GET /v1/tx?status=sent` lists them.',
    example: 'this tenant has 2000 tracked transactions, the most a tenant may have'
  })
})
