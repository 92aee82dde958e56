import { errorKinds, final } from '../kernel/error-kind.ts'

/** Errors of the administration of tenants and keys. Requests are refused with errors of the kernel. */
export const ACCESS_ERRORS = errorKinds({
  TENANT_NOT_FOUND: final(404, 'tenant_not_found', 'Tenant not found', {
    meaning: 'There is no tenant of this name.',
    remedy: 'Create it first, or list the tenants.',
    example: 'there is no tenant acme'
  }),
  KEY_NOT_FOUND: final(404, 'key_not_found', 'API key not found', {
    meaning: 'There is no API key with this id.',
    remedy: 'List the keys; the id is not the key itself.',
    example: 'there is no key of this id'
  }),
  TENANT_EXISTS: final(409, 'tenant_exists', 'Tenant exists', {
    meaning: 'A tenant of this name exists already.',
    remedy: 'Use it, or choose another name.',
    example: 'there is a tenant acme already'
  }),
  TENANT_LIMIT_REACHED: final(409, 'tenant_limit_reached', 'Tenant limit reached', {
    meaning: 'The service has its maximum number of tenants.',
    remedy: 'Make the keys for an existing tenant.',
    example: 'the limit of 10000 tenants is reached'
  }),
  KEY_LIMIT_REACHED: final(409, 'key_limit_reached', 'API key limit reached', {
    meaning:
      'The tenant has its maximum number of active API keys, or the service its maximum number, or bytes, of all keys.',
    remedy: 'Revoke keys that are no longer used.',
    example: 'acme has reached its limit of 1000 keys; revoke keys that are no longer used'
  }),
  KEY_INACTIVE: final(409, 'key_inactive', 'API key inactive', {
    meaning: 'The API key has expired, or was revoked or rotated, so it cannot be rotated.',
    remedy: 'Rotate its successor, or make a new key.',
    example: 'this key no longer works'
  }),
  KEY_LAST: final(409, 'last_admin_key', 'Last admin key', {
    meaning: 'This is the last active key with the scope admin. Without it, no further key could be created.',
    remedy: 'Make another key with the scope admin first.',
    example: 'the last admin key that works cannot be revoked'
  })
})
