import type { KeyRow, TenantRow } from '../access-documents.ts'
import type { RecordKind } from './record.ts'

/*
 * Tenants and API keys as versions stored them before they were documents. Such records are read once, and never written.
 */

export const earlierTenantKind: RecordKind<TenantRow> = {
  name: 'tenant of an earlier version',
  write: notWritten,
  read: (source) => ({ name: source.text(), createdAtMs: source.float() }),
  weigh: () => 200
}

export const earlierKeyKind: RecordKind<KeyRow> = {
  name: 'API key of an earlier version',
  write: notWritten,
  read: (source) => ({
    id: source.text(),
    hash: source.fixed(32),
    prefix: source.text(),
    tenant: source.text(),
    name: source.text(),
    scopes: source.texts(),
    createdAtMs: source.float(),
    ratePerMinute: source.optionalCount(),
    expiresAtMs: source.optionalFloat(),
    revokedAtMs: source.optionalFloat(),
    allowedIps: source.texts(),
    corsOrigins: source.texts(),
    successor: source.texts()[0] ?? null
  }),
  weigh: () => 1_000
}

function notWritten(): never {
  throw new TypeError('tenants and API keys are written as documents')
}
