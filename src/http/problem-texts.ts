import type { ErrorCode } from '../errors.ts'

/** Texts of a problem's page: its cause, its remedy, and an example of `detail`. */
export interface ProblemText {
  readonly meaning: string
  readonly remedy: string
  readonly example: string
}

export const PROBLEM_TEXTS: Readonly<Record<ErrorCode, ProblemText>> = {
  PARAMETER_INVALID: {
    meaning:
      'A parameter of the path, the query or the body is missing, unknown, given twice or out of range.',
    remedy: 'Correct the parameter that `detail` names. If several are wrong, `errors` lists them all.',
    example: 'limit must be a whole number between 1 and 1000'
  },
  ADDRESS_INVALID: {
    meaning: 'A mint, pool or wallet is not an address: base58 text of 32 bytes.',
    remedy: 'Copy the address again. Letters are case-sensitive; base58 has no 0, O, I or l.',
    example: 'mint must be a base58 address of 32 bytes'
  },
  CURSOR_INVALID: {
    meaning: 'The `after` was altered, or belongs to another list or to other filters.',
    remedy:
      'Send `nextCursor` of the previous page unchanged, with the same path and filters. Or start again without `after`.',
    example: 'after is not a cursor of this list'
  },
  JSON_INVALID: {
    meaning: 'The body is not JSON.',
    remedy: 'Send one JSON value in UTF-8.',
    example: 'the body is not valid JSON'
  },
  KEY_MISSING: {
    meaning: 'The request carries no API key.',
    remedy:
      'Send it in `X-API-Key`, or in `Authorization: Bearer`. Only the RPC URL (`api-key`) and the stream (`key`) also read it from the query.',
    example: 'send an API key in X-API-Key or Authorization: Bearer'
  },
  KEY_INVALID: {
    meaning: 'The API key is not known, or the request carries two different keys.',
    remedy: 'Check that the key was copied in full, or ask the operator for another one.',
    example: 'this API key is not known'
  },
  KEY_EXPIRED: {
    meaning: 'The API key has expired, by its own expiry or after a rotation.',
    remedy: 'Use its successor, or ask the operator for another one.',
    example: 'this API key has expired'
  },
  KEY_REVOKED: {
    meaning: 'The API key was revoked.',
    remedy: 'Ask the operator for another one.',
    example: 'this API key was revoked'
  },
  IP_REFUSED: {
    meaning: 'The API key is restricted to certain IP addresses, and the request comes from another one.',
    remedy: 'Call from an allowed address, or ask the operator to add yours.',
    example: 'this API key may not be used from this address'
  },
  SCOPE_MISSING: {
    meaning: 'The API key is valid but lacks the scope that this endpoint needs.',
    remedy: 'Use a key with the scope that `detail` names. `GET /v1/me` shows the scopes of a key.',
    example: 'this key lacks the scope data:read'
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
  TENANT_NOT_FOUND: {
    meaning: 'There is no tenant of this name.',
    remedy: 'Create it first, or list the tenants.',
    example: 'there is no tenant acme'
  },
  KEY_NOT_FOUND: {
    meaning: 'There is no API key with this id.',
    remedy: 'List the keys; the id is not the key itself.',
    example: 'there is no key of this id'
  },
  METHOD_INVALID: {
    meaning: 'The path exists, but does not accept this method.',
    remedy: 'Use a method that the header `Allow` lists.',
    example: 'this route answers GET, HEAD'
  },
  REQUEST_TIMEOUT: {
    meaning: 'The request did not arrive completely in time.',
    remedy: 'Send it again on a new connection.',
    example: 'the request took too long to arrive'
  },
  TENANT_EXISTS: {
    meaning: 'A tenant of this name exists already.',
    remedy: 'Use it, or choose another name.',
    example: 'there is a tenant acme already'
  },
  TENANT_LIMIT_REACHED: {
    meaning: 'The service has its maximum number of tenants.',
    remedy: 'Make the keys for an existing tenant.',
    example: 'there are 10000 tenants, the most there can be'
  },
  KEY_LIMIT_REACHED: {
    meaning: 'The tenant, or the service, has its maximum number of active API keys.',
    remedy: 'Revoke keys that are no longer used.',
    example: 'acme has 1000 keys, the most it can have'
  },
  KEY_INACTIVE: {
    meaning: 'The API key has expired, or was revoked or rotated, so it cannot be rotated.',
    remedy: 'Rotate its successor, or make a new key.',
    example: 'this key no longer works'
  },
  KEY_LAST: {
    meaning: 'This is the last active key with the scope admin. Without it, nobody could create another key.',
    remedy: 'Make another key with the scope admin first.',
    example: 'the last admin key that works cannot be revoked'
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
  RATE_LIMITED: {
    meaning:
      'The API key has used up its calls of this minute, or too many requests came without a valid key.',
    remedy:
      'Wait the seconds in `Retry-After`. `RateLimit` on every answer shows the calls left in the minute.',
    example: 'this key may make 600 requests a minute; the next minute begins in 12 s'
  },
  HEADERS_EXCEEDED: {
    meaning: 'The request line and headers have more than 16 KiB.',
    remedy: 'Shorten them; split a long list of addresses into several requests.',
    example: 'the request line and headers have more than 16 KiB'
  },
  SERVICE_FAILED: {
    meaning: 'The service failed. Its log has the fault under the `request_id`.',
    remedy: 'Tell the operator the `request_id`.',
    example: 'the request failed on our side'
  },
  SERVICE_DRAINING: {
    meaning: 'The service is about to stop and accepts no new requests.',
    remedy: 'Retry in a moment, on a new connection.',
    example: 'the service is draining; come back'
  },
  STORAGE_UNAVAILABLE: {
    meaning: 'The store cannot answer right now.',
    remedy: 'Retry after the seconds in `Retry-After`.',
    example: 'the store does not answer; try again'
  },
  DEADLINE_EXCEEDED: {
    meaning:
      'The answer took too long to compute and was abandoned: two seconds, or the time that the endpoint states; or other requests of the tenant took its time. Nothing was changed.',
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
      'Look at the resource that `detail` names. Repeat the request with the same `Idempotency-Key`: it takes effect once, and the repeat gets the first answer.',
    example:
      'the store has not confirmed it, so it is unknown whether this request took effect; GET /v1/webhooks shows it; repeating it with the same Idempotency-Key is safe'
  },
  SECRET_LIMIT_REACHED: {
    meaning:
      'Ten secrets of the webhook sign now: those of earlier rotations are still in their grace periods.',
    remedy: 'Wait until one of them ends, or rotate with `grace_seconds` 0, which ends all of them at once.',
    example:
      'ten secrets of this webhook sign now, the most that may; rotate with grace_seconds 0 to end them'
  },
  INDEX_LOADING: {
    meaning: 'The service has just started and is still loading the data for this answer from the store.',
    remedy: 'Retry after the seconds in `Retry-After`.',
    example: 'the ranking is still being loaded'
  },
  STREAM_KEY_REFUSED: {
    meaning: 'The handshake of the stream carries no valid API key.',
    remedy: 'Send the key in `X-API-Key`. If the client cannot set headers, send it as the parameter `key`.',
    example: 'this API key is not known'
  },
  CONNECTIONS_EXCEEDED: {
    meaning:
      'The key has reached its maximum number of streams, or the address or the service has reached its maximum number of connections.',
    remedy: 'Close a connection. Put more channels on one stream, and reuse connections for requests.',
    example: 'this key has 20 connections, the most a key can have'
  },
  UPGRADE_MISSING: {
    meaning: 'This path accepts only WebSocket, and the request has no upgrade.',
    remedy: 'Connect with a WebSocket client: the scheme is `ws` or `wss`.',
    example: 'connect with a WebSocket client'
  },
  ORIGIN_REFUSED: {
    meaning:
      'A web page used an API key that does not list the origin of the page, over HTTP or for the stream.',
    remedy: 'Use a key that lists the origin of the page (`cors_origins`), or ask the operator for one.',
    example: 'pages of this origin may not use this API key'
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
    example: 'channels.0: "launch" is no channel'
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
    remedy: 'End the watch of an address. Its ledger is shown again from a new start if it is watched later.',
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
  PROGRAM_LIMIT_REACHED: {
    meaning: 'The whitelist has 50 programs, the most that are mirrored.',
    remedy: 'Remove one first.',
    example: 'the whitelist has 50 programs, the most that it may have'
  },
  CURSOR_EXPIRED: {
    meaning: 'The pages of this paging run show a slot that is no longer stored.',
    remedy:
      'Start again with the first page. A run lasts five minutes, or less for a program with many changes.',
    example: 'after is of slot 300000000, which can no longer be read'
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
  TIP_MISSING: {
    meaning:
      'The block-engine route needs a tip: a system transfer of at least 1,000 lamports to a tip account. The tip account must be a static account of the transaction, not an entry of a lookup table.',
    remedy:
      'Add the transfer to the transaction; in a bundle, to the last transaction. `GET /v1/tx/tips` lists the accounts and usual tips.',
    example: 'tx has a tip of 999 lamports; the minimum is 1000'
  },
  UPSTREAM_TIMEOUT: {
    meaning: 'A node that the answer depends on did not answer in time.',
    remedy:
      'Retry after the seconds in `Retry-After`. If the error persists, the operator has to check the upstream.',
    example: 'the node did not answer in time'
  },
  TRANSACTION_INVALID: {
    meaning:
      'With status 400, the transaction is not base64, or is too long, truncated, malformed or of an unknown version. With status 422, a required signature is missing or does not match the message.',
    remedy:
      'Correct the fault that `detail` names. Sign with every signer after the last change of the message. Send the bytes of the whole transaction.',
    example: 'tx is no valid transaction: transaction bytes end early'
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
      'Correct the transaction. With `BlockhashNotFound`, sign it again with a recent blockhash of this cluster.',
    example: 'the simulation of tx failed; see err and logs'
  },
  TRANSACTION_LIMIT_REACHED: {
    meaning:
      'The maximum number of transactions is being sent and tracked: 2,000 of one tenant, or 10,000 of one process of the service.',
    remedy:
      'Wait until some have landed or expired, at most about a minute. `GET /v1/tx?status=sent` lists them.',
    example: 'this tenant has 2000 tracked transactions, the most a tenant may have'
  }
}
