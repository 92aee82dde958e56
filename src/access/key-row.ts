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

/** Bytes of a stored key without what follows: the names of its fields, its id, hash, time, and the versions of four writes. */
const KEY_BYTES = 510
/** A character of a name, in UTF-8 or escaped, has at most as many bytes. */
const NAME_CHARACTER_BYTES = 3
/** Quotes and a comma of a text in a list. */
const LISTED_TEXT_BYTES = 3
/** A number in place of null. */
const NUMBER_BYTES = 10
/** An id in place of null. */
const ID_BYTES = 34

/** Returns the maximum bytes that a key takes in the store. */
export function keyBytes(row: KeyRow): number {
  const { ratePerMinute, workPerMinute, exportRowsPerDay, expiresAtMs, revokedAtMs } = row
  const numbers = [ratePerMinute, workPerMinute, exportRowsPerDay, expiresAtMs, revokedAtMs]
  let bytes = KEY_BYTES + row.prefix.length + row.tenant.length + row.name.length * NAME_CHARACTER_BYTES
  for (const number of numbers) if (number != null) bytes += NUMBER_BYTES
  if (row.successor !== null) bytes += ID_BYTES
  for (const list of [row.scopes, row.allowedIps, row.corsOrigins])
    for (const text of list) bytes += text.length + LISTED_TEXT_BYTES
  return bytes
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
