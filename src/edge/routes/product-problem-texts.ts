import type { ErrorCode } from '../../kernel/errors.ts'
import type { ProblemText } from '../../kernel/http/problem-text.ts'

/** Texts of the problems that belong to one product: webhooks, the ledger, program accounts, transactions. */
export const PRODUCT_PROBLEM_TEXTS = {
  SECRET_LIMIT_REACHED: {
    meaning:
      'Ten secrets of the webhook sign now: those of earlier rotations are still in their grace periods.',
    remedy:
      'Wait until a grace period ends, or rotate with `grace_seconds` 0, which ends all of them at once.',
    example:
      'ten secrets of this webhook sign now, the most that may; rotate with grace_seconds 0 to end them'
  },
  URL_REFUSED: {
    meaning:
      'The webhook URL is not allowed because of its scheme, port or host, or its host does not resolve to public addresses only.',
    remedy:
      'Use `http` or `https`, port 80, 443 or from 1024 up, no user or password, and a host with public addresses only.',
    example: 'the host of url does not resolve to public addresses only'
  },
  CHANNEL_UNKNOWN: {
    meaning: 'A webhook names a channel that does not exist.',
    remedy: 'Correct the channel that `detail` names. If several are wrong, `errors` lists them all.',
    example: 'channels.0: "launch" is not a channel'
  },
  WEBHOOK_NOT_FOUND: {
    meaning: 'The tenant of the API key has no webhook with this id.',
    remedy: 'List the webhooks of the tenant. This one was deleted, or it belongs to another tenant.',
    example: 'there is no webhook with this id'
  },
  WEBHOOK_LIMIT_REACHED: {
    meaning: 'The tenant has five webhooks, the most that it may have.',
    remedy: 'Delete a webhook, or use fewer webhooks with more channels: a webhook takes 50 channels.',
    example: 'this tenant has 5 webhooks, the most a tenant may have'
  },
  WATCH_NOT_FOUND: {
    meaning: 'The tenant of the API key does not watch this address.',
    remedy:
      'List the watched addresses of the tenant. To watch this one, add it by `POST /v1/revenue/accounts`.',
    example: 'this tenant does not watch this address'
  },
  WATCH_LIMIT_REACHED: {
    meaning: 'The tenant watches 200 addresses, the most that it may watch.',
    remedy: 'Stop watching an address. If it is watched later, its ledger begins anew.',
    example: 'this tenant watches 200 addresses, the most a tenant may watch'
  },
  PROGRAM_NOT_WHITELISTED: {
    meaning: 'The accounts of the program are not mirrored.',
    remedy: 'Ask the operator to add the program to the whitelist.',
    example: 'program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA is not whitelisted'
  },
  PROGRAM_NOT_FOUND: {
    meaning: 'The program is not on the whitelist.',
    remedy: 'List the programs with GET /v1/admin/programs.',
    example: 'program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA is not on the whitelist'
  },
  NODE_NOT_FOUND: {
    meaning: 'The process has no node with this id behind the RPC URL, and none is cordoned under it.',
    remedy: 'List the nodes with GET /v1/admin/nodes.',
    example: 'there is no node rpc.example.org:8899'
  },
  PROGRAM_LIMIT_REACHED: {
    meaning: 'The whitelist has 50 programs, the most that are mirrored.',
    remedy: 'Remove one first.',
    example: 'the whitelist has 50 programs, the most that it may have'
  },
  CURSOR_EXPIRED: {
    meaning: 'The pages of this paging run show a slot that is no longer stored.',
    remedy: 'Begin with the first page. A run lasts five minutes, or less for a program with many changes.',
    example: 'after is of slot 300000000, which can no longer be read'
  },
  TIP_MISSING: {
    meaning:
      'The block-engine route needs a tip: a system transfer of at least 1,000 lamports to a tip account. The tip account must be a static account of the transaction, not an entry of a lookup table.',
    remedy:
      'Add the transfer to the transaction; in a bundle, to the last transaction. `GET /v1/tx/tips` lists the accounts and usual tips.',
    example: 'tx has a tip of 999 lamports; the minimum is 1000'
  },
  TRANSACTION_INVALID: {
    meaning:
      'With status 400, the transaction is not base64, or is too long, truncated, malformed or of an unknown version. With status 422, a required signature is missing or does not match the message.',
    remedy:
      'Correct the fault that `detail` names. Sign with every signer after the last change of the message. Send the bytes of the whole transaction.',
    example: 'tx is not a valid transaction: transaction bytes end early'
  },
  TRANSACTION_UNSIGNED: {
    meaning: 'A required signature is missing, or does not match the message.',
    remedy: 'Sign with every signer after the last change of the message.',
    example: 'tx is not signed by 3zi7ET8HFv7CbfQ87Y9ziuNidLZz7biTeG5jTusE7LUm'
  },
  PREFLIGHT_FAILED: {
    meaning:
      'The simulation of the transaction failed, so it was not sent. The request has `skip_preflight: false`. `err`, `logs` and `units_consumed` are those of the simulation.',
    remedy:
      'Correct the transaction. With `BlockhashNotFound`, re-sign it with a recent blockhash of this cluster.',
    example: 'the simulation of tx failed; see err and logs'
  },
  TRANSACTION_LIMIT_REACHED: {
    meaning:
      'The maximum number of transactions is being sent and tracked: 2,000 of one tenant, or 10,000 of one process of the service.',
    remedy:
      'Wait until some have landed or expired, at most about a minute. `GET /v1/tx?status=sent` lists them.',
    example: 'this tenant has 2000 tracked transactions, the most a tenant may have'
  }
} as const satisfies Partial<Record<ErrorCode, ProblemText>>
