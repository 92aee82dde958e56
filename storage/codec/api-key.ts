import type { KeyRow } from '../port.ts'
import type { RecordKind } from './record.ts'

export const apiKeyKind: RecordKind<KeyRow> = {
  name: 'API key',
  write(out, row) {
    out.text(row.id)
    out.fixed(row.hash, 32)
    out.text(row.prefix)
    out.text(row.tenant)
    out.text(row.name)
    out.texts(row.scopes)
    out.float(row.createdAtMs)
    out.optionalCount(row.ratePerMinute)
    out.optionalFloat(row.expiresAtMs)
    out.optionalFloat(row.revokedAtMs)
    out.texts(row.allowedIps)
    out.texts(row.corsOrigins)
    out.texts(row.successor === null ? [] : [row.successor])
  },
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

/** The order that keys are listed in. */
export const byKeyCreation = (a: KeyRow, b: KeyRow): number =>
  a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1)
