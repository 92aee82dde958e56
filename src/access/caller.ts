import type { KeyRow } from '../../storage/access-documents.ts'
import { entriesFor, type OriginUse } from './origin-entry.ts'
import { AddressRanges } from './address-ranges.ts'
import { EXPORT_ROWS_PER_DAY, WORK_PER_MINUTE } from '../kernel/work/work-units.ts'

export type KeyState = 'active' | 'expired' | 'revoked'

/** Returns the state of a key. A revoked key stays revoked; a key is valid strictly before its expiry. */
export function keyState(row: KeyRow, nowMs: number): KeyState {
  if (row.revokedAtMs !== null) return 'revoked'
  return row.expiresAtMs !== null && nowMs >= row.expiresAtMs ? 'expired' : 'active'
}

/** The caller of a request: a stored key, prepared once for all of its requests. */
export class Caller {
  readonly row: KeyRow
  readonly keyId: string
  readonly tenant: string
  readonly scopes: readonly string[]
  /** Maximum calls per minute. */
  readonly ratePerMinute: number
  /** Maximum units of work per minute. */
  readonly workPerMinute: number
  /** Maximum rows that exports send in a day of UTC; 0 allows no export. */
  readonly exportRowsPerDay: number
  /** Units per minute above which a tenant's total use refuses this key. */
  readonly tenantWorkPerMinute: number
  /** The names of the key and its tenant in the work counter; they differ from all names in the call counter. */
  readonly workNames: { readonly key: string; readonly tenant: string }
  readonly #addresses: AddressRanges | null

  constructor(row: KeyRow, defaultRatePerMinute: number, defaultWorkPerMinute = WORK_PER_MINUTE) {
    this.row = row
    this.keyId = row.id
    this.tenant = row.tenant
    this.scopes = row.scopes
    this.ratePerMinute = row.ratePerMinute ?? defaultRatePerMinute
    this.workPerMinute = row.workPerMinute ?? defaultWorkPerMinute
    this.exportRowsPerDay = row.exportRowsPerDay ?? EXPORT_ROWS_PER_DAY
    this.tenantWorkPerMinute = Math.max(this.workPerMinute, defaultWorkPerMinute)
    this.workNames = { key: `work of key ${row.id}`, tenant: Caller.workNameOf(row.tenant) }
    this.#addresses = row.allowedIps.length === 0 ? null : new AddressRanges(row.allowedIps)
  }

  /** Returns the name of a tenant in the work counter. */
  static workNameOf(tenant: string): string {
    return `work of tenant ${tenant}`
  }

  /** Tells whether the key may be used from an address; an unknown address is in no list. */
  mayComeFrom(address: string | undefined): boolean {
    return this.#addresses === null || (address !== undefined && this.#addresses.includes(address))
  }

  /** Tells whether pages of an origin may use the key for a part of the API. */
  mayBeUsedBy(origin: string, use: OriginUse): boolean {
    const { corsOrigins } = this.row
    return corsOrigins.length > 0 && entriesFor(origin, use).some((entry) => corsOrigins.includes(entry))
  }
}
