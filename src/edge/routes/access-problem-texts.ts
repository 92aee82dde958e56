import type { ErrorCode } from '../../kernel/errors.ts'
import type { ProblemText } from '../../kernel/http/problem-text.ts'

/** Texts of the problems with tenants, keys and what a key may do. */
export const ACCESS_PROBLEM_TEXTS = {
  KEY_MISSING: {
    meaning: 'The request carries no API key.',
    remedy:
      'Send it in `X-API-Key`, or in `Authorization: Bearer`. Only the RPC URL (`api-key`) and the stream (`key`) also read it from the query.',
    example: 'send an API key in X-API-Key or Authorization: Bearer'
  },
  KEY_INVALID: {
    meaning: 'The API key is not known, or the request carries two different keys.',
    remedy: 'Check that the key was copied in full, or ask the operator for another key.',
    example: 'this API key is not known'
  },
  KEY_EXPIRED: {
    meaning: 'The API key has expired, by its own expiry or after a rotation.',
    remedy: 'Use its successor, or ask the operator for another key.',
    example: 'this API key has expired'
  },
  KEY_REVOKED: {
    meaning: 'The API key was revoked.',
    remedy: 'Ask the operator for another key.',
    example: 'this API key was revoked'
  },
  IP_REFUSED: {
    meaning: 'The API key is restricted to certain IP addresses, and the request comes from another address.',
    remedy: 'Call from an allowed address, or ask the operator to add yours.',
    example: 'this API key may not be used from this address'
  },
  SCOPE_MISSING: {
    meaning: 'The API key is valid but lacks the scope that this endpoint needs.',
    remedy: 'Use a key with the scope that `detail` names. `GET /v1/me` shows the scopes of a key.',
    example: 'this key lacks the scope data:read'
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
  TENANT_EXISTS: {
    meaning: 'A tenant of this name exists already.',
    remedy: 'Use it, or choose another name.',
    example: 'there is a tenant acme already'
  },
  TENANT_LIMIT_REACHED: {
    meaning: 'The service has its maximum number of tenants.',
    remedy: 'Make the keys for an existing tenant.',
    example: 'the limit of 10000 tenants is reached'
  },
  KEY_LIMIT_REACHED: {
    meaning: 'The tenant, or the service, has its maximum number of active API keys.',
    remedy: 'Revoke keys that are no longer used.',
    example: 'acme has reached its limit of 1000 keys; revoke keys that are no longer used'
  },
  KEY_INACTIVE: {
    meaning: 'The API key has expired, or was revoked or rotated, so it cannot be rotated.',
    remedy: 'Rotate its successor, or make a new key.',
    example: 'this key no longer works'
  },
  KEY_LAST: {
    meaning: 'This is the last active key with the scope admin. Without it, no further key could be created.',
    remedy: 'Make another key with the scope admin first.',
    example: 'the last admin key that works cannot be revoked'
  },
  RATE_LIMITED: {
    meaning:
      'The API key has used up its calls or its work of this minute, or the keys of its tenant have used up their work. Or too many requests came without a valid key.',
    remedy:
      'Wait the seconds in `Retry-After`. `violated-policies` names the quota. `RateLimit` on every answer shows what is left of calls and work.',
    example: 'this key may make 600 requests a minute; the next minute begins in 12 s'
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
  ORIGIN_REFUSED: {
    meaning:
      'A web page or browser extension used an API key that does not list its origin, over HTTP or for a socket.',
    remedy:
      'Use a key that lists the origin (`cors_origins`, for the product if the entry names one), or ask the operator for such a key.',
    example:
      'this API key does not list the origin https://app.example.org: use a key whose cors_origins have https://app.example.org, or rpc:https://app.example.org for this product (millrace keys create --origin)'
  }
} as const satisfies Partial<Record<ErrorCode, ProblemText>>
