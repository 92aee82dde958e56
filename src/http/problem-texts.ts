import type { ErrorCode } from '../errors.ts'

/** What a problem's page says: what happened, what to do about it, and a `detail` as an answer may have it. */
export interface ProblemText {
  readonly meaning: string
  readonly remedy: string
  readonly example: string
}

export const PROBLEM_TEXTS: Readonly<Record<ErrorCode, ProblemText>> = {
  PARAMETER_INVALID: {
    meaning:
      'A parameter of the path, the query or the body is missing, unknown, given twice or out of range.',
    remedy: 'Correct the parameter that `detail` names; where several are wrong, `errors` lists them all.',
    example: 'limit must be a whole number between 1 and 1000'
  },
  ADDRESS_INVALID: {
    meaning: 'A mint, pool or wallet is no address: base58 text of 32 bytes.',
    remedy: 'Copy the address again; letters are case-sensitive, and 0, O, I and l do not occur.',
    example: 'mint must be a base58 address of 32 bytes'
  },
  CURSOR_INVALID: {
    meaning: 'The `after` of a list was altered, or belongs to another list or to other filters.',
    remedy: 'Send `nextCursor` of the page before as it is, with the same path and filters; else start anew.',
    example: 'after is no cursor of this list'
  },
  JSON_INVALID: {
    meaning: 'The body is no JSON.',
    remedy: 'Send one JSON value in UTF-8.',
    example: 'the body is no valid JSON'
  },
  KEY_MISSING: {
    meaning: 'The request carries no API key.',
    remedy: 'Send it in `X-API-Key`, or in `Authorization: Bearer`. A key in the query is not read here.',
    example: 'send an API key in X-API-Key or Authorization: Bearer'
  },
  KEY_INVALID: {
    meaning: 'The API key is not known, or the request carries two that differ.',
    remedy: 'Check the key for what copying cut off; ask the operator for another one.',
    example: 'this API key is not known'
  },
  KEY_EXPIRED: {
    meaning:
      'The API key was good until a time that has passed, by its own expiry or because it was rotated.',
    remedy: 'Use its successor, or ask the operator for another one.',
    example: 'this API key has expired'
  },
  KEY_REVOKED: {
    meaning: 'The API key was withdrawn.',
    remedy: 'Ask the operator for another one.',
    example: 'this API key was revoked'
  },
  IP_REFUSED: {
    meaning: 'The API key may be used from certain addresses, and the request comes from another.',
    remedy: 'Call from an address of the list, or have the operator add yours.',
    example: 'this API key may not be used from this address'
  },
  SCOPE_MISSING: {
    meaning: 'The API key is good but lacks the scope that this endpoint needs.',
    remedy: 'Use a key with the scope that `detail` names. `GET /v1/me` shows the scopes of a key.',
    example: 'this key lacks the scope data:read'
  },
  ROUTE_NOT_FOUND: {
    meaning: 'There is nothing at this path.',
    remedy: 'Compare it with the paths in the documentation; a slash at the end counts.',
    example: 'no such route'
  },
  TOKEN_NOT_FOUND: {
    meaning: 'Nothing that would answer the request is known of this token.',
    remedy:
      'Check the mint. A token is known from its first launch, pool or trade on a covered venue after the index began.',
    example: 'no trade that forms a price of this token is known'
  },
  CURVE_NOT_FOUND: {
    meaning: 'The token was never on a bonding curve that is covered.',
    remedy: 'Nothing: tokens that began in a pool have none.',
    example: 'no bonding curve of this token is known'
  },
  TENANT_NOT_FOUND: {
    meaning: 'There is no tenant of this name.',
    remedy: 'Create it first, or list the tenants there are.',
    example: 'there is no tenant acme'
  },
  KEY_NOT_FOUND: {
    meaning: 'There is no API key of this id.',
    remedy: 'List the keys there are; the id is not the key itself.',
    example: 'there is no key of this id'
  },
  METHOD_INVALID: {
    meaning: 'The path exists, but not for this method.',
    remedy: 'Use a method that the header `Allow` lists.',
    example: 'this route answers GET, HEAD'
  },
  REQUEST_TIMEOUT: {
    meaning: 'The request did not arrive as a whole in time.',
    remedy: 'Send it again on a new connection.',
    example: 'the request took too long to arrive'
  },
  TENANT_EXISTS: {
    meaning: 'A tenant of this name exists already.',
    remedy: 'Use it, or choose another name.',
    example: 'there is a tenant acme already'
  },
  TENANT_LIMIT_REACHED: {
    meaning: 'There are as many tenants as the service keeps.',
    remedy: 'Give the keys to a tenant that exists.',
    example: 'there are as many tenants as there can be'
  },
  KEY_LIMIT_REACHED: {
    meaning: 'There are as many working API keys as a tenant, or the service, may have.',
    remedy: 'Revoke keys that are no longer used.',
    example: 'this tenant has as many keys as it may have'
  },
  KEY_INACTIVE: {
    meaning: 'The API key has expired or was revoked or rotated, so it cannot be rotated.',
    remedy: 'Rotate its successor, or make a new key.',
    example: 'this key no longer works'
  },
  KEY_LAST: {
    meaning: 'This is the last key that may administer the service; without it nobody could make another.',
    remedy: 'Make another key with the scope admin first.',
    example: 'the last admin key that works cannot be revoked'
  },
  BODY_EXCEEDED: {
    meaning: 'The body has more than 64 KiB.',
    remedy: 'Send less.',
    example: 'the body is too large'
  },
  MEDIA_TYPE_INVALID: {
    meaning: 'The body is in a format that is not read here.',
    remedy: 'Send JSON, with `Content-Type: application/json`.',
    example: 'the body must be application/json'
  },
  RATE_LIMITED: {
    meaning:
      'The API key has used up its calls of this minute; or too many requests came without a good key.',
    remedy:
      'Wait as many seconds as `Retry-After` says. `RateLimit` on every answer says what is left of the minute.',
    example: 'this key may make 600 requests a minute; the next minute begins in 12 s'
  },
  HEADERS_EXCEEDED: {
    meaning: 'The request line and headers have more than 16 KiB.',
    remedy: 'Send shorter ones; a batch of addresses may need to be split.',
    example: 'the request line and headers have more than 16 KiB'
  },
  SERVICE_FAILED: {
    meaning: 'The service has a fault, which is logged under the `request_id`.',
    remedy: 'Tell the operator the `request_id`.',
    example: 'the request failed on our side'
  },
  SERVICE_DRAINING: {
    meaning: 'The service is about to stop, and takes no new requests.',
    remedy: 'Ask again in a moment, on a new connection.',
    example: 'the service is draining; come back'
  },
  STORAGE_UNAVAILABLE: {
    meaning: 'The store cannot answer right now.',
    remedy: 'Ask again after the seconds that `Retry-After` says.',
    example: 'the store does not answer; try again'
  },
  DEADLINE_EXCEEDED: {
    meaning: 'The answer took more than two seconds to work out, and was given up.',
    remedy: 'Ask for less: a shorter list, or filters that match more of the rows. Or ask again.',
    example: 'the answer took too long to work out; ask for less'
  },
  INDEX_LOADING: {
    meaning: 'The service has just started, and what this answer needs is still being read from the store.',
    remedy: 'Ask again after the seconds that `Retry-After` says.',
    example: 'the ranking is still being loaded'
  },
  STREAM_KEY_REFUSED: {
    meaning: 'The stream was asked for without an API key that is good.',
    remedy: 'Send the key in `X-API-Key`, or as the parameter `key` where no header can be set.',
    example: 'this API key is not known'
  },
  CONNECTIONS_EXCEEDED: {
    meaning:
      'The key has as many streams open as a key may have, or the address, or the service, as many connections.',
    remedy:
      'Close one: put more channels on a stream, and send requests one after another on one connection.',
    example: 'this key has 20 connections, the most a key can have'
  },
  UPGRADE_MISSING: {
    meaning: 'This address speaks WebSocket, and the request does not ask for it.',
    remedy: 'Connect with a WebSocket client: the scheme is `ws` or `wss`.',
    example: 'connect with a WebSocket client'
  },
  ORIGIN_REFUSED: {
    meaning:
      'A page of another origin used an API key that does not list this origin, over HTTP or for the stream.',
    remedy: 'Use a key that lists the origin of the page (`cors_origins`), or have the operator make one.',
    example: 'pages of this origin may not use this API key'
  }
}
