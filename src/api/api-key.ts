import { z } from 'zod'
import type { KeyRow, TenantRow } from '../../storage/port.ts'
import { keyState } from '../access/caller.ts'
import { SCOPES, type Scope } from '../access/scopes.ts'
import { CLOCKS, count, text } from './schema.ts'

const moment = (meaning: string) =>
  z.iso.datetime({ precision: 3 }).describe(`${meaning}; ${CLOCKS.service}, ISO 8601, UTC`)

export const tenantAnswer = z
  .object({
    name: text('What the tenant is called; its id'),
    created_at: moment('When it was created'),
    keys: count('Its keys that work')
  })
  .meta({ id: 'Tenant', description: 'Whom keys belong to' })

export const keyAnswer = z
  .object({
    id: text('The id of the key, by which it is managed; it opens nothing'),
    tenant: text('Whom it belongs to'),
    name: text('What it was called when it was made'),
    prefix: text('How the key begins: enough to tell it from others'),
    scopes: z.array(z.enum(SCOPES)).describe('What it may be used for'),
    status: z
      .enum(['active', 'expired', 'revoked'])
      .describe('Whether it works; a key that has a successor expires at the end of its grace'),
    rate_limit_per_minute: z
      .int()
      .nullable()
      .describe('Calls that it may make in a minute of the clock; null: the default of the service'),
    allowed_ips: z
      .array(z.string())
      .describe('IP addresses and CIDR ranges that it may be used from; empty: from everywhere'),
    cors_origins: z
      .array(z.string())
      .describe('Origins whose pages may use it in a browser; empty: those of none'),
    created_at: moment('When it was made'),
    expires_at: moment('It works strictly before; null: it does not expire').nullable(),
    revoked_at: moment('When it was revoked').nullable(),
    successor: text('The id of the key that took its place').nullable()
  })
  .meta({ id: 'Key', description: 'An API key, without what opens anything' })

export const issuedKeyAnswer = keyAnswer
  .extend({
    key: text('The key itself. It is shown here and never again; only a hash of it is kept')
  })
  .meta({ id: 'IssuedKey', description: 'An API key that was just made' })

/** A tenant, with the number of its keys that work. */
export function tenantBody(tenant: TenantRow, keys: number): z.infer<typeof tenantAnswer> {
  return { name: tenant.name, created_at: momentText(tenant.createdAtMs), keys }
}

/** A key as its operator may see it: everything but the key. */
export function keyBody(row: KeyRow, nowMs: number): z.infer<typeof keyAnswer> {
  return {
    id: row.id,
    tenant: row.tenant,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes as Scope[],
    status: keyState(row, nowMs),
    rate_limit_per_minute: row.ratePerMinute,
    allowed_ips: [...row.allowedIps],
    cors_origins: [...row.corsOrigins],
    created_at: momentText(row.createdAtMs),
    expires_at: row.expiresAtMs === null ? null : momentText(row.expiresAtMs),
    revoked_at: row.revokedAtMs === null ? null : momentText(row.revokedAtMs),
    successor: row.successor
  }
}

/** ISO 8601 in UTC, of unix milliseconds. */
export function momentText(unixMs: number): string {
  return new Date(unixMs).toISOString()
}
