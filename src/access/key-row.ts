import { randomUUID } from 'node:crypto'
import type { KeyRow } from '../../storage/access-documents.ts'
import { apiKeyPrefix, hashApiKey } from './api-key.ts'

/** Attributes of a key that its maker sets. */
export type KeyAttributes = Pick<
  KeyRow,
  | 'tenant'
  | 'name'
  | 'scopes'
  | 'ratePerMinute'
  | 'workPerMinute'
  | 'exportRowsPerDay'
  | 'expiresAtMs'
  | 'allowedIps'
  | 'corsOrigins'
>

/** A key just made; `key` is its secret, which is not stored. */
export interface IssuedKey {
  readonly row: KeyRow
  readonly key: string
}

/** Returns the row of a new key. */
export function newKey(key: string, attributes: KeyAttributes, nowMs: number): IssuedKey {
  const {
    tenant,
    name,
    scopes,
    ratePerMinute,
    workPerMinute = null,
    exportRowsPerDay = null,
    expiresAtMs,
    allowedIps,
    corsOrigins
  } = attributes
  return {
    key,
    row: {
      id: randomUUID(),
      hash: hashApiKey(key),
      prefix: apiKeyPrefix(key),
      tenant,
      name,
      scopes,
      createdAtMs: nowMs,
      ratePerMinute,
      workPerMinute,
      exportRowsPerDay,
      expiresAtMs,
      revokedAtMs: null,
      allowedIps,
      corsOrigins,
      successor: null
    }
  }
}

/** Tells whether two rows of a key are equal. */
export function isSameKey(row: KeyRow, other: KeyRow | undefined): boolean {
  if (row === other) return true
  return (
    other !== undefined &&
    row.id === other.id &&
    row.revokedAtMs === other.revokedAtMs &&
    row.expiresAtMs === other.expiresAtMs &&
    row.successor === other.successor &&
    row.ratePerMinute === other.ratePerMinute &&
    (row.workPerMinute ?? null) === (other.workPerMinute ?? null) &&
    (row.exportRowsPerDay ?? null) === (other.exportRowsPerDay ?? null) &&
    row.tenant === other.tenant &&
    row.name === other.name &&
    row.prefix === other.prefix &&
    row.createdAtMs === other.createdAtMs &&
    isSameList(row.scopes, other.scopes) &&
    isSameList(row.allowedIps, other.allowedIps) &&
    isSameList(row.corsOrigins, other.corsOrigins) &&
    Buffer.compare(row.hash, other.hash) === 0
  )
}

function isSameList(list: readonly string[], other: readonly string[]): boolean {
  return list.length === other.length && list.every((text, i) => text === other[i])
}
