import { z } from 'zod'
import type { KeyRow, TenantRow } from '../../../storage/access-documents.ts'
import { keyState } from '../caller.ts'
import { SCOPES, type Scope } from '../scopes.ts'
import { CLOCKS, count, text } from '../../kernel/http/schema.ts'

/** Schema of a time in the format of `momentText`. */
export const moment = (meaning: string) =>
  z.iso.datetime({ precision: 3 }).describe(`${meaning}; ${CLOCKS.service}, ISO 8601, UTC`)

export const tenantAnswer = z
  .object({
    name: text('Name and id of the tenant'),
    created_at: moment('Time of creation'),
    keys: count('Number of its active keys')
  })
  .meta({ id: 'Tenant', description: 'An owner of keys' })

export const keyAnswer = z
  .object({
    id: text('Id of the key for managing it; not a secret'),
    tenant: text('The tenant that owns the key'),
    name: text('Name given when the key was made'),
    prefix: text('First characters of the key, to recognize it'),
    scopes: z.array(z.enum(SCOPES)).describe('Scopes: the permissions of the key'),
    status: z
      .enum(['active', 'expired', 'revoked'])
      .describe('State of the key; a rotated key expires at the end of its grace period'),
    rate_limit_per_minute: z
      .int()
      .nullable()
      .describe('Calls allowed per clock minute; null: the default of the service'),
    work_limit_per_minute: z
      .int()
      .nullable()
      .describe('Units of work allowed per clock minute; null: the default of the service'),
    export_rows_per_day: z
      .int()
      .nullable()
      .describe('Rows that exports may send in a day of UTC; 0: no exports. Null: 1,000,000'),
    allowed_ips: z
      .array(z.string())
      .describe('IP addresses and CIDR ranges that may use the key; empty: all'),
    cors_origins: z
      .array(z.string())
      .describe('Origins whose pages may use the key in a browser (CORS); empty: none'),
    created_at: moment('Time of creation'),
    expires_at: moment('Time from which the key no longer works; null: it does not expire').nullable(),
    revoked_at: moment('Time of revocation').nullable(),
    successor: text('Id of the key that replaced it').nullable()
  })
  .meta({ id: 'Key', description: 'An API key without its secret' })

export const issuedKeyAnswer = keyAnswer
  .extend({
    key: text('The key itself. It is shown only here: the service stores its hash alone')
  })
  .meta({ id: 'IssuedKey', description: 'A new API key' })

/** Renders a tenant with the number of its active keys. */
export function tenantBody(tenant: TenantRow, keys: number): z.infer<typeof tenantAnswer> {
  return { name: tenant.name, created_at: momentText(tenant.createdAtMs), keys }
}

/** Renders a key for its operator: everything but the secret. */
export function keyBody(row: KeyRow, nowMs: number): z.infer<typeof keyAnswer> {
  return {
    id: row.id,
    tenant: row.tenant,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes as Scope[],
    status: keyState(row, nowMs),
    rate_limit_per_minute: row.ratePerMinute,
    work_limit_per_minute: row.workPerMinute ?? null,
    export_rows_per_day: row.exportRowsPerDay ?? null,
    allowed_ips: [...row.allowedIps],
    cors_origins: [...row.corsOrigins],
    created_at: momentText(row.createdAtMs),
    expires_at: row.expiresAtMs === null ? null : momentText(row.expiresAtMs),
    revoked_at: row.revokedAtMs === null ? null : momentText(row.revokedAtMs),
    successor: row.successor
  }
}

/** Formats Unix milliseconds as ISO 8601 in UTC. */
export function momentText(unixMs: number): string {
  return new Date(unixMs).toISOString()
}
