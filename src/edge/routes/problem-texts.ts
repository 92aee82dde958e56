import type { ErrorCode } from '../../kernel/errors.ts'
import { ACCESS_PROBLEM_TEXTS } from './access-problem-texts.ts'
import type { ProblemText } from '../../kernel/http/problem-text.ts'
import { PRODUCT_PROBLEM_TEXTS } from './product-problem-texts.ts'

/** Texts of all problems, by error. */
export const PROBLEM_TEXTS: Readonly<Record<ErrorCode, ProblemText>> = {
  ...ACCESS_PROBLEM_TEXTS,
  ...PRODUCT_PROBLEM_TEXTS,
  PARAMETER_INVALID: {
    meaning:
      'A parameter of the path, the query or the body is missing, unknown, given twice or out of range.',
    remedy: 'Correct the parameter that `detail` names. If several are wrong, `errors` lists them all.',
    example: 'limit must be a whole number between 1 and 1000'
  },
  ADDRESS_INVALID: {
    meaning: 'A mint, pool or wallet is not an address: base58 text of 32 bytes.',
    remedy: 'Copy the address anew. Letters are case-sensitive; base58 has no 0, O, I or l.',
    example: 'mint must be a base58 address of 32 bytes'
  },
  CURSOR_INVALID: {
    meaning: 'The `after` was altered, or belongs to another list or to other filters.',
    remedy:
      'Send `nextCursor` of the previous page unchanged, with the same path and filters. Or begin anew without `after`.',
    example: 'after is not a cursor of this list'
  },
  JSON_INVALID: {
    meaning: 'The body is not JSON.',
    remedy: 'Send one JSON value in UTF-8.',
    example: 'the body is not valid JSON'
  },
  ROUTE_NOT_FOUND: {
    meaning: 'There is nothing at this path.',
    remedy: 'Compare the path with the documentation; a trailing slash makes a difference.',
    example: 'no such route'
  },
  TOKEN_NOT_FOUND: {
    meaning: 'The index has no data on this token for this request.',
    remedy:
      'Check the mint. A token is known from its first launch, pool or trade on a covered venue after the index began.',
    example: 'no price-forming trade of this token is known'
  },
  POOL_NOT_FOUND: {
    meaning: 'The index has no event that names this pool and both of its mints.',
    remedy:
      'Check the address. A pool is known from its creation, or from its first trade on a covered venue after the index began.',
    example: 'no event of this pool is known'
  },
  CURVE_NOT_FOUND: {
    meaning: 'The token was never on a bonding curve of an indexed launchpad.',
    remedy: 'Nothing: a token that was launched in a pool has no curve.',
    example: 'no bonding curve of this token is known'
  },
  METHOD_INVALID: {
    meaning: 'The path exists, but does not accept this method.',
    remedy: 'Use a method that the header `Allow` lists.',
    example: 'this route answers GET, HEAD'
  },
  REQUEST_TIMEOUT: {
    meaning: 'The request did not arrive completely in time.',
    remedy: 'Resend it on a new connection.',
    example: 'the request took too long to arrive'
  },
  BODY_EXCEEDED: {
    meaning: 'The body has more than 64 KiB.',
    remedy: 'Send less.',
    example: 'the body is too large'
  },
  MEDIA_TYPE_INVALID: {
    meaning: 'The body is in a format that this endpoint does not accept.',
    remedy: 'Send JSON, with `Content-Type: application/json`.',
    example: 'the body must be application/json'
  },
  HEADERS_EXCEEDED: {
    meaning: 'The request line and headers have more than 16 KiB.',
    remedy: 'Shorten them; split a long list of addresses into several requests.',
    example: 'the request line and headers have more than 16 KiB'
  },
  SERVICE_FAILED: {
    meaning: 'The service failed. Its log has the fault under the `request_id`.',
    remedy: 'Report the `request_id` to the operator.',
    example: 'the request failed on our side'
  },
  SERVICE_DRAINING: {
    meaning: 'The service is about to stop and accepts no new requests.',
    remedy: 'Retry in a moment, on a new connection.',
    example: 'the service is draining; retry on a new connection'
  },
  RESTARTING: {
    meaning:
      'A component of the service that the request needs has failed, and is restarting. Nothing was changed.',
    remedy: 'Retry after the seconds in `Retry-After`.',
    example: 'the connections to nodes restart; retry'
  },
  STORAGE_UNAVAILABLE: {
    meaning: 'The store cannot answer right now.',
    remedy: 'Retry after the seconds in `Retry-After`.',
    example: 'the store does not answer; retry'
  },
  DEADLINE_EXCEEDED: {
    meaning:
      'The answer was abandoned. Its computation took longer than two seconds, or than the time that the endpoint states, or other requests of the tenant used its time. Nothing was changed.',
    remedy:
      'For a read, request less data: a shorter list, filters that match more rows, or fewer requests at once. Repeat a request that changes something.',
    example: 'the answer took too long to compute; request less data'
  },
  CHANGE_NOT_BEGUN: {
    meaning: 'The checks of the request took too long. Nothing was changed.',
    remedy: 'Repeat the request after the seconds in `Retry-After`.',
    example: 'nothing was changed: the checks of the request took too long; repeat it'
  },
  OUTCOME_UNKNOWN: {
    meaning:
      'It is unknown whether the request took effect: the store has not answered within 30 seconds, its answer was lost, or the service failed after a write. Every other 503 means that nothing was changed.',
    remedy:
      'Check the resource that `detail` names. Repeat the request with the same `Idempotency-Key`: it takes effect once, and the repeat gets the first answer.',
    example:
      'the store has not confirmed it, so it is unknown whether this request took effect; GET /v1/webhooks shows it; repeating it with the same Idempotency-Key is safe'
  },
  INDEX_LOADING: {
    meaning: 'The service has just started and is still loading the data for this answer from the store.',
    remedy: 'Retry after the seconds in `Retry-After`.',
    example: 'the ranking is still being loaded'
  },
  UPGRADE_MISSING: {
    meaning: 'This path accepts only WebSocket, and the request has no upgrade.',
    remedy: 'Connect with a WebSocket client: the scheme is `ws` or `wss`.',
    example: 'connect with a WebSocket client'
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'The `Idempotency-Key` was used in the last 24 hours for a request with another body.',
    remedy: 'Send the same body to repeat that request, or another key for a new one.',
    example: 'this Idempotency-Key was used for a request with another body'
  },
  UPSTREAM_ERROR: {
    meaning:
      'A node or the block engine that the answer depends on cannot be reached, or does not answer this request.',
    remedy:
      'Retry after the seconds in `Retry-After`. If the error persists, the operator has to check the upstream.',
    example: 'the node does not answer this request now'
  },
  NOT_CONFIGURED: {
    meaning: 'The answer needs a node, a block engine or a feed that this service is not configured with.',
    remedy:
      'Do not retry. The operator has to set the URL that the request needs, such as `MILLRACE_RPC_URL`.',
    example: 'no block engine is configured'
  },
  UPSTREAM_TIMEOUT: {
    meaning: 'A node that the answer depends on did not answer in time.',
    remedy:
      'Retry after the seconds in `Retry-After`. If the error persists, the operator has to check the upstream.',
    example: 'the node did not answer in time'
  }
}
