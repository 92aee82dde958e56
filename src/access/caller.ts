import type { KeyRow } from '../../storage/access-documents.ts'
import { AddressRanges } from './address-ranges.ts'

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
  /** Calls allowed in a minute. */
  readonly ratePerMinute: number
  readonly #addresses: AddressRanges | null

  constructor(row: KeyRow, defaultRatePerMinute: number) {
    this.row = row
    this.keyId = row.id
    this.tenant = row.tenant
    this.scopes = row.scopes
    this.ratePerMinute = row.ratePerMinute ?? defaultRatePerMinute
    this.#addresses = row.allowedIps.length === 0 ? null : new AddressRanges(row.allowedIps)
  }

  /** Tells whether the key may be used from an address; an unknown address is in no list. */
  mayComeFrom(address: string | undefined): boolean {
    return this.#addresses === null || (address !== undefined && this.#addresses.includes(address))
  }

  /** Tells whether pages of an origin may use the key. */
  mayBeUsedBy(origin: string): boolean {
    return this.row.corsOrigins.includes(origin)
  }
}
